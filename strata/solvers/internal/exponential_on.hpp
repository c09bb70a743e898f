// Exponentials by the plans of a planner: what solvers::MatrixExponential and
// gpu::MatrixExponential are.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/formats/csc.hpp"
#include "strata/solvers/exponential.hpp"
#include "strata/solvers/exponential_polynomial.hpp"
#include "strata/solvers/hermitian.hpp"
#include "strata/solvers/internal/planner.hpp"
#include "strata/solvers/swept_polynomial.hpp"

namespace strata::solvers::detail {

// The largest Σ_j |(A − shift)_ij| of the rows, which may be those of a larger matrix from
// `first_row` on.
template <Value V, Index I>
double largest_sum_of_row(const Csr<V, I>& matrix, std::complex<double> shift,
                          Offset first_row = 0) {
  double largest = 0;
  for (I row = 0; row < matrix.rows(); ++row) {
    double sum = 0;
    bool diagonal = false;
    for (auto k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      std::complex<double> value(matrix.values()[k]);
      if (matrix.columns()[k] == first_row + row) {
        value -= shift;
        diagonal = true;
      }
      sum += std::abs(value);
    }
    if (!diagonal) sum += std::abs(shift);
    largest = std::max(largest, sum);
  }
  return largest;
}

// Of A − shift: the smaller of the largest sums of columns and of rows.
template <Value V, Index I>
double norm_of(const Csr<V, I>& matrix, std::complex<double> shift) {
  const Csc<V, I> columns = Csc<V, I>::from_csr(matrix);
  return std::min(largest_sum_of_row(matrix, shift),
                  largest_sum_of_row(columns.transpose(), shift));
}

template <Value V, Index I>
std::complex<double> sum_of_diagonal(const Csr<V, I>& matrix, Offset first_row = 0) {
  std::complex<double> sum = 0;
  for (I row = 0; row < matrix.rows(); ++row) {
    for (auto k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      if (matrix.columns()[k] == first_row + row) sum += std::complex<double>(matrix.values()[k]);
    }
  }
  return sum;
}

// [tA b; 0 J], b in the first of k more columns, J with ones above its diagonal: the last column of
// its exponential begins with φ_k(tA) b. Of some rows of a larger matrix, these with b; the k rows
// of J only with the last ones.
template <Value V, Index I>
Csr<V, I> augmented(const Csr<V, I>& matrix, V time, std::span<const V> b, int k,
                    bool last_rows = true) {
  const I cols = matrix.cols(), all = checked_add<I>(cols, static_cast<I>(k), "a larger matrix");
  const I rows = matrix.rows();
  Array<Offset> offsets{0};
  Array<I> columns;
  Array<V> values;
  for (I row = 0; row < rows; ++row) {
    for (auto at = matrix.row_offsets()[row]; at < matrix.row_offsets()[row + 1]; ++at) {
      columns.push_back(matrix.columns()[at]);
      values.push_back(time * matrix.values()[at]);
    }
    columns.push_back(cols);
    values.push_back(b[static_cast<std::size_t>(row)]);
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  for (I row = cols; row < all && last_rows; ++row) {
    if (row + 1 < all) {
      columns.push_back(row + 1);
      values.push_back(V(1));
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  const auto count = static_cast<I>(offsets.size() - 1);  // before the offsets move
  return Csr<V, I>(count, all, std::move(offsets), std::move(columns), std::move(values));
}

template <Value V>
bool all_finite(std::span<const V> values) {
  return std::all_of(values.begin(), values.end(), [](const V& value) {
    return std::isfinite(std::real(value)) && std::isfinite(std::imag(value));
  });
}

// What exponentials ask of a matrix, whatever its indices are.
template <class Space>
class ExponentialMatrix {
 public:
  using V = typename Space::Value;

  virtual ~ExponentialMatrix() = default;
  // Of vectors: those of the matrix, or, where processes share one, of this process.
  virtual Offset rows() const = 0;
  virtual bool has_last_row() const { return true; }
  // Over all processes that share the matrix.
  virtual double largest(double here) const { return here; }
  virtual double sum(double here) const { return here; }
  bool everywhere(bool here) const { return largest(here ? 0 : 1) == 0; }
  virtual bool hermitian() const = 0;
  virtual std::complex<double> mean_of_diagonal() const = 0;
  virtual double norm(std::complex<double> shift) const = 0;  // of A − shift, at least
  virtual FieldOfValues field_of_values() const = 0;
  virtual const Planner<Space>& planner() const = 0;
  // As the function of that name has it.
  virtual std::unique_ptr<ExponentialMatrix> augmented(V time, std::span<const V> b,
                                                       int k) const = 0;
};

// `plan` makes the planner of a matrix.
template <class Space, Index I, class Plan>
class ExponentialMatrixOf final : public ExponentialMatrix<Space> {
 public:
  using typename ExponentialMatrix<Space>::V;

  ExponentialMatrixOf(Csr<V, I> matrix, Plan plan)
      : matrix_(std::move(matrix)), plan_(std::move(plan)), planner_(plan_(matrix_)) {}

  Offset rows() const override { return matrix_.rows(); }
  bool hermitian() const override { return is_hermitian(matrix_); }
  std::complex<double> mean_of_diagonal() const override {
    return sum_of_diagonal(matrix_) / static_cast<double>(matrix_.rows());
  }
  double norm(std::complex<double> shift) const override { return norm_of(matrix_, shift); }
  FieldOfValues field_of_values() const override { return solvers::field_of_values(matrix_); }
  const Planner<Space>& planner() const override { return *planner_; }
  std::unique_ptr<ExponentialMatrix<Space>> augmented(V time, std::span<const V> b,
                                                      int k) const override {
    return std::make_unique<ExponentialMatrixOf>(detail::augmented(matrix_, time, b, k), plan_);
  }

 private:
  Csr<V, I> matrix_;
  Plan plan_;
  std::unique_ptr<Planner<Space>> planner_;
};

inline void require_exponential_options(const ExponentialOptions& options) {
  if (!(options.tolerance > 0)) throw InvalidArgument("the tolerance must be positive");
  if (options.most_degree < 1) throw InvalidArgument("the degree is at least 1");
}

// Throws what MatrixExponential says that it throws, and takes a copy of the matrix.
template <class Space, Index I, class Plan>
std::unique_ptr<ExponentialMatrix<Space>> exponential_matrix(
    const Csr<typename Space::Value, I>& matrix, const ExponentialOptions& options, Plan plan) {
  require_square(matrix, "the exponential");
  if (options.method == ExponentialMethod::chebyshev) require_hermitian(matrix, "chebyshev");
  require_finite(matrix, "the exponential");
  require_exponential_options(options);
  return std::make_unique<ExponentialMatrixOf<Space, I, Plan>>(matrix, std::move(plan));
}

template <class Space>
class ExponentialOn {
 public:
  using V = typename Space::Value;
  using View = typename Space::View;

  ExponentialOn(std::unique_ptr<ExponentialMatrix<Space>> matrix, const ExponentialOptions& options)
      : matrix_(std::move(matrix)), options_(options), hermitian_(matrix_->hermitian()) {}

  Offset rows() const { return matrix_->rows(); }
  bool hermitian() const { return hermitian_; }
  ChebyshevInterval interval() {
    find_bounds();
    return {bounds_.low, bounds_.high};
  }

  ExponentialResult apply(const ExponentialTime& time, std::span<const V> v, std::span<V> result) {
    if (const auto known = trivial(time.value, v, result)) return *known;
    const RunningClock setup;
    auto [method, chosen] = choose(time);
    return run(method, std::move(chosen), time.value, setup.seconds(), v, result);
  }

  ExponentialResult phi(int k, double time, std::span<const V> v, std::span<V> result) {
    if (k < 0) throw InvalidArgument("φ-functions count from 0");
    if (k == 0) return apply({time, false}, v, result);
    if (const auto known = trivial(time, v, result)) return *known;
    const bool by_series = options_.method == ExponentialMethod::chebyshev ||
                           (options_.method == ExponentialMethod::automatic && hermitian_);
    return by_series ? phi_by_series(k, time, v, result) : phi_by_augmented(k, time, v, result);
  }

 private:
  static constexpr double kEpsilon = std::numeric_limits<decltype(std::abs(V()))>::epsilon();

  void find_bounds(int steps = 24) {
    if (steps <= bound_steps_ || matrix_->planner().rows() == 0) return;
    const auto plan = matrix_->planner().plan_product(/*autotune=*/false);
    Space space = plan->make_space(plan->vector_rows());
    auto start = space.make_vector();
    plan->random()(start, 1);
    bounds_ = intersected(estimate_bounds<Space>(space, plan->as_operator(), start, steps),
                          matrix_->planner().gershgorin())
                  .widened(1e-6);
    bound_steps_ = steps;
  }
  // Where the end of the spectrum is not known well enough for a time, more steps to find it cost
  // less than steps in time do.
  void find_bounds_for(double time, const ExponentialDemand& demand) {
    find_bounds();
    const int degree = exponential_degree(time * (bounds_.high - bounds_.low) / 2, false,
                                          demand.tolerance, demand.most_degree);
    for (int steps = 2 * bound_steps_; excess(time) > 2 && steps < degree; steps *= 2) {
      find_bounds(steps);
    }
  }

  // The polynomial for a time, by the method that was asked for.
  std::pair<ExponentialMethod, ExponentialPolynomial> choose(const ExponentialTime& time) {
    // No polynomial can be better than its arithmetic.
    ExponentialDemand demand{.tolerance = std::max(options_.tolerance, kEpsilon / 2),
                             .epsilon = kEpsilon,
                             .most_degree = options_.most_degree};
    const auto taylor = [&] {
      const std::complex<double> shift = matrix_->mean_of_diagonal();
      return taylor_exponential(time, shift, matrix_->norm(shift), demand);
    };
    const auto leja = [&] {
      return leja_exponential<V>(
          time, hermitian_ ? FieldOfValues{bounds_.low, bounds_.high} : matrix_->field_of_values(),
          demand);
    };
    if (options_.method == ExponentialMethod::taylor) {
      return {ExponentialMethod::taylor, taylor()};
    }
    if (hermitian_) {
      find_bounds();
      if (!time.imaginary) {
        find_bounds_for(time.value, demand);
        demand.excess = excess(time.value);
      }
      if (options_.method == ExponentialMethod::leja) return {ExponentialMethod::leja, leja()};
      return {ExponentialMethod::chebyshev, chebyshev_exponential(time, interval(), demand)};
    }
    if (options_.method == ExponentialMethod::leja) return {ExponentialMethod::leja, leja()};
    ExponentialPolynomial first = taylor();
    try {
      ExponentialPolynomial second = leja();
      const bool as_exact =
          2 * kEpsilon * second.growth <= demand.tolerance || second.growth <= first.growth;
      if (as_exact && second.products() < first.products()) {
        return {ExponentialMethod::leja, second};
      }
    } catch (const InvalidArgument&) {  // no interpolation is good enough here: Taylor's is
    }
    return {ExponentialMethod::taylor, first};
  }
  // By how much the exponent in the bounds exceeds that of the spectrum.
  double excess(double time) const {
    return std::max(time * bounds_.low, time * bounds_.high) -
           std::max(time * bounds_.smallest, time * bounds_.largest);
  }

  // `or_more` where the basis has any number of vectors.
  PlannedPowers<Space>& powers_of(int degree, bool or_more) {
    // A few terms of zero cost less than another plan.
    const int most = or_more ? degree + degree / 8 : degree;
    if (!powers_ || powers_->power() < degree || powers_->power() > most) {
      powers_ = matrix_->planner().plan_powers(degree, 1, options_.autotune);
    }
    return *powers_;
  }

  ExponentialResult run(ExponentialMethod method, ExponentialPolynomial chosen, double time,
                        double setup, std::span<const V> v, std::span<V> result) {
    const RunningClock planning;
    PlannedPowers<Space>& sweep =
        powers_of(chosen.polynomial.degree(), method == ExponentialMethod::chebyshev);
    ExponentialResult outcome{
        .method = method, .degree = chosen.polynomial.degree(), .steps = chosen.polynomial.steps};
    outcome.variant = sweep.variant();
    chosen.polynomial.coefficients.resize(static_cast<std::size_t>(sweep.power()) + 1);
    Space space = sweep.make_space(sweep.vector_rows());
    auto first = space.make_vector(), second = space.make_vector();
    SweepComparison<Space> comparison(sweep, Kept::last, options_.time_bare);
    outcome.setup_seconds = setup + planning.seconds();
    MethodClock<Space> clock(space, sweep);
    sweep.to_plan_order(v, first);
    View x(first), other(second);
    const int steps = chosen.polynomial.steps;
    const int done = apply_steps<Space>(sweep, chosen.polynomial, x, other, [&](int step) {
      return !options_.progress || options_.progress(step, steps);
    });
    sweep.to_caller_order(x, result);
    outcome.times = clock.times();
    outcome.product = comparison.times();
    outcome.products = Offset{done} * sweep.power();
    outcome.time = time * done / steps;
    // Two roundings for every term that is added up.
    outcome.error = chosen.error + 2 * kEpsilon * chosen.growth;
    if (!matrix_->everywhere(all_finite<V>(result))) {
      fail(outcome, SolveStatus::not_finite, "the result is not finite");
    } else if (done < steps) {
      fail(outcome, SolveStatus::stopped,
           fmt::format("stopped after {} of {} steps in time, at {:.6g}", done, steps,
                       outcome.time));
    } else if (outcome.error > options_.tolerance) {
      fail(outcome, SolveStatus::stagnated,
           fmt::format("the bound of the error is {:.1e}: rounding allows no less", outcome.error));
    }
    return outcome;
  }

  static void fail(ExponentialResult& outcome, SolveStatus status, std::string message) {
    outcome.status = status;
    outcome.message = std::move(message);
  }

  // What needs no product; none: go on.
  std::optional<ExponentialResult> trivial(double time, std::span<const V> v,
                                           std::span<V> result) const {
    const auto rows = static_cast<std::size_t>(matrix_->rows());
    if (v.size() != rows || result.size() != rows) {
      throw InvalidArgument(fmt::format("vectors of {} and {} elements for a matrix of {} rows",
                                        v.size(), result.size(), rows));
    }
    if (!std::isfinite(time)) throw InvalidArgument("the time is not finite");
    ExponentialResult outcome{.time = time};
    if (!matrix_->everywhere(all_finite<V>(v))) {
      std::copy(v.begin(), v.end(), result.begin());
      outcome.time = 0;
      fail(outcome, SolveStatus::not_finite, "the vector is not finite");
      return outcome;
    }
    const bool zero = std::all_of(v.begin(), v.end(), [](const V& value) { return value == V(0); });
    if (!matrix_->everywhere(zero)) return {};
    std::fill(result.begin(), result.end(), V(0));
    return outcome;
  }

  ExponentialResult phi_by_series(int k, double time, std::span<const V> v, std::span<V> result) {
    const RunningClock setup;
    const ChebyshevInterval on = interval();
    const double tolerance = std::max(options_.tolerance, kEpsilon / 2);
    const int degree =
        exponential_degree(time * on.radius(), false, tolerance, options_.most_degree);
    if (degree > options_.most_degree) {
      throw InvalidArgument(fmt::format("φ_{} needs a degree above {}", k, options_.most_degree));
    }
    const ExponentialSeries series = phi_series(k, time, on, degree);
    double largest = 0, growth = 0;
    for (const double at : {on.low, on.high}) {
      largest = std::max(largest, std::abs(solvers::phi(k, time * at)));
    }
    ExponentialPolynomial chosen;
    chosen.polynomial.basis = Basis::chebyshev(on.low, on.high);
    for (const double each : series.coefficients) {
      chosen.polynomial.coefficients.emplace_back(each);
      growth += std::abs(each) / largest;
    }
    chosen.error = series.remainder / largest;
    chosen.growth = std::max(growth, 1.0);
    return run(ExponentialMethod::chebyshev, std::move(chosen), time, setup.seconds(), v, result);
  }

  ExponentialResult phi_by_augmented(int k, double time, std::span<const V> v,
                                     std::span<V> result) {
    using Real = decltype(std::abs(V()));
    const RunningClock setup;
    // The vector is divided so that it asks for no more steps: to entries of at most 1 for norms,
    // to a sum of 1 for the field of values, which a full column would make so wide that eᵗᶻ on it
    // says nothing.
    Real size = 0;
    for (const V& value : v) {
      const Real each = std::abs(value);
      size = options_.method == ExponentialMethod::taylor ? std::max(size, each) : size + each;
    }
    size = static_cast<Real>(options_.method == ExponentialMethod::taylor ? matrix_->largest(size)
                                                                          : matrix_->sum(size));
    std::vector<V> scaled(v.begin(), v.end());
    for (V& value : scaled) value /= size;
    auto larger = matrix_->augmented(V(static_cast<Real>(time)), scaled, k);
    std::vector<V> unit(static_cast<std::size_t>(larger->rows())), whole(unit.size());
    if (larger->has_last_row()) unit.back() = V(1);
    ExponentialOptions for_one_vector = options_;
    for_one_vector.autotune = false;
    ExponentialOn exponential(std::move(larger), for_one_vector);
    const double before = setup.seconds();
    ExponentialResult outcome = exponential.apply({1, false}, unit, whole);
    for (std::size_t i = 0; i < v.size(); ++i) result[i] = size * whole[i];
    outcome.setup_seconds += before;
    outcome.time *= time;
    return outcome;
  }

  std::unique_ptr<ExponentialMatrix<Space>> matrix_;
  ExponentialOptions options_;
  bool hermitian_ = false;
  int bound_steps_ = 0;
  SpectrumBounds bounds_;
  std::unique_ptr<PlannedPowers<Space>> powers_;
};

}  // namespace strata::solvers::detail
