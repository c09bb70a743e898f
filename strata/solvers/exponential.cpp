#include "strata/solvers/exponential.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/plans/product_plan.hpp"
#include "strata/solvers/exponential_polynomial.hpp"
#include "strata/solvers/processor_powers.hpp"
#include "strata/solvers/processor_vectors.hpp"
#include "strata/solvers/spectrum_bounds.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::solvers {

std::string_view name_of(ExponentialMethod method) {
  switch (method) {
    case ExponentialMethod::automatic: return "auto";
    case ExponentialMethod::chebyshev: return "chebyshev";
    case ExponentialMethod::taylor: return "taylor";
    case ExponentialMethod::leja: return "leja";
  }
  return "";
}

namespace {

using Complex = std::complex<double>;

// Of A − shift: the smaller of the largest sums of columns and of rows.
template <Value V, Index I>
double norm_of(const Csr<V, I>& matrix, Complex shift) {
  std::vector<double> columns(static_cast<std::size_t>(matrix.cols()));
  double rows = 0;
  for (I row = 0; row < matrix.rows(); ++row) {
    double sum = 0;
    bool diagonal = false;
    for (auto k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      const I column = matrix.columns()[k];
      Complex value(matrix.values()[k]);
      if (column == row) {
        value -= shift;
        diagonal = true;
      }
      sum += std::abs(value);
      columns[static_cast<std::size_t>(column)] += std::abs(value);
    }
    if (!diagonal) {
      sum += std::abs(shift);
      columns[static_cast<std::size_t>(row)] += std::abs(shift);
    }
    rows = std::max(rows, sum);
  }
  return std::min(rows, *std::max_element(columns.begin(), columns.end()));
}

template <Value V, Index I>
Complex mean_of_diagonal(const Csr<V, I>& matrix) {
  Complex sum = 0;
  for (I row = 0; row < matrix.rows(); ++row) {
    for (auto k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      if (matrix.columns()[k] == row) sum += Complex(matrix.values()[k]);
    }
  }
  return sum / static_cast<double>(matrix.rows());
}

// [tA b; 0 J], b in the first of k more columns, J with ones above its diagonal: the last column of
// its exponential begins with φ_k(tA) b.
template <Value V, Index I>
Csr<V, I> augmented(const Csr<V, I>& matrix, V time, std::span<const V> b, int k) {
  const I rows = matrix.rows(), all = checked_add<I>(rows, static_cast<I>(k), "a larger matrix");
  Array<Offset> offsets{0};
  Array<I> columns;
  Array<V> values;
  for (I row = 0; row < rows; ++row) {
    for (auto at = matrix.row_offsets()[row]; at < matrix.row_offsets()[row + 1]; ++at) {
      columns.push_back(matrix.columns()[at]);
      values.push_back(time * matrix.values()[at]);
    }
    columns.push_back(rows);
    values.push_back(b[static_cast<std::size_t>(row)]);
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  for (I row = rows; row < all; ++row) {
    if (row + 1 < all) {
      columns.push_back(row + 1);
      values.push_back(V(1));
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  return Csr<V, I>(all, all, std::move(offsets), std::move(columns), std::move(values));
}

template <Value V>
bool all_finite(std::span<const V> values) {
  return std::all_of(values.begin(), values.end(), [](const V& value) {
    return std::isfinite(std::real(value)) && std::isfinite(std::imag(value));
  });
}

}  // namespace

template <Value V, Index I>
struct MatrixExponential<V, I>::State {
  using Space = ProcessorSpace<V>;
  static constexpr double kEpsilon = std::numeric_limits<decltype(std::abs(V()))>::epsilon();

  State(const Csr<V, I>& of, const ExponentialOptions& wanted) : matrix(of), options(wanted) {
    require_square(matrix, "the exponential");
    if (options.method == ExponentialMethod::chebyshev) require_hermitian(matrix, "chebyshev");
    require_finite(matrix, "the exponential");
    if (!(options.tolerance > 0)) throw InvalidArgument("the tolerance must be positive");
    if (options.most_degree < 1) throw InvalidArgument("the degree is at least 1");
    hermitian = is_hermitian(matrix);
  }

  void find_bounds() {
    if (bounds_known || matrix.rows() == 0) return;
    const auto plan = plan_product(
        matrix, {.vector_order = VectorOrder::plan, .autotune = false, .threads = options.threads});
    auto workspace = plan.make_workspace();
    Space space(plan.x_rows(), plan.threads());
    auto start = space.make_vector();
    random_in_order_of<V>(plan)(start, 1);
    const Operator<Space> a = [&](std::span<const V> x, std::span<V> y) {
      plan.apply(x, y, workspace);
    };
    bounds = intersected(estimate_bounds<Space>(space, a, start), gershgorin_bounds(matrix))
                 .widened(1e-4);
    bounds_known = true;
  }
  ChebyshevInterval interval() {
    find_bounds();
    return {bounds.low, bounds.high};
  }

  // The polynomial for a time, by the method that was asked for.
  std::pair<ExponentialMethod, ExponentialPolynomial> choose(const ExponentialTime& time) {
    // No polynomial can be better than its arithmetic.
    ExponentialDemand demand{.tolerance = std::max(options.tolerance, kEpsilon / 2),
                             .epsilon = kEpsilon,
                             .most_degree = options.most_degree};
    const auto taylor = [&] {
      const Complex shift = mean_of_diagonal(matrix);
      return taylor_exponential(time, shift, norm_of(matrix, shift), demand);
    };
    const auto leja = [&] {
      return leja_exponential<V>(
          time, hermitian ? FieldOfValues{bounds.low, bounds.high} : field_of_values(matrix),
          demand);
    };
    if (options.method == ExponentialMethod::taylor) {
      return {ExponentialMethod::taylor, taylor()};
    }
    if (hermitian) {
      find_bounds();
      if (!time.imaginary) demand.excess = excess(time.value);
      if (options.method == ExponentialMethod::leja) return {ExponentialMethod::leja, leja()};
      return {ExponentialMethod::chebyshev, chebyshev_exponential(time, interval(), demand)};
    }
    if (options.method == ExponentialMethod::leja) return {ExponentialMethod::leja, leja()};
    ExponentialPolynomial first = taylor();
    try {
      ExponentialPolynomial second = leja();
      if (second.products() < first.products()) return {ExponentialMethod::leja, second};
    } catch (const InvalidArgument&) {  // no interpolation is good enough here: Taylor's is
    }
    return {ExponentialMethod::taylor, first};
  }
  // By how much the exponent in the bounds exceeds that of the spectrum.
  double excess(double time) const {
    return std::max(time * bounds.low, time * bounds.high) -
           std::max(time * bounds.smallest, time * bounds.largest);
  }

  // `or_more` where the basis has any number of vectors.
  ProcessorPowers<V, I>& powers_of(int degree, bool or_more) {
    // A few terms of zero cost less than another plan.
    const int most = or_more ? degree + degree / 8 : degree;
    if (!powers || powers->power() < degree || powers->power() > most) {
      powers = std::make_unique<ProcessorPowers<V, I>>(
          matrix,
          PowerOptions{.power = degree, .autotune = options.autotune, .threads = options.threads});
    }
    return *powers;
  }

  ExponentialResult run(ExponentialMethod method, ExponentialPolynomial chosen, double time,
                        double setup, std::span<const V> v, std::span<V> result) {
    const RunningClock planning;
    ProcessorPowers<V, I>& sweep =
        powers_of(chosen.polynomial.degree(), method == ExponentialMethod::chebyshev);
    ExponentialResult outcome{
        .method = method, .degree = chosen.polynomial.degree(), .steps = chosen.polynomial.steps};
    chosen.polynomial.coefficients.resize(static_cast<std::size_t>(sweep.power()) + 1);
    outcome.setup_seconds = setup + planning.seconds();
    const RunningClock clock;
    Space space(sweep.plan().vector_rows(), sweep.plan().threads());
    auto first = space.make_vector(), second = space.make_vector();
    sweep.plan().to_plan_order(v, first);
    std::span<V> x(first), other(second);
    const RunningClock products;
    const int steps = chosen.polynomial.steps;
    const int done = apply_steps<Space>(sweep, chosen.polynomial, x, other, [&](int step) {
      return !options.progress || options.progress(step, steps);
    });
    outcome.times.products = products.seconds();
    sweep.plan().to_caller_order(x, result);
    outcome.times.total = clock.seconds();
    outcome.products = Offset{done} * sweep.power();
    outcome.time = time * done / steps;
    // Two roundings for every term that is added up.
    outcome.error = chosen.error + 2 * kEpsilon * chosen.growth;
    if (!all_finite<V>(result)) {
      fail(outcome, SolveStatus::not_finite, "the result is not finite");
    } else if (done < steps) {
      fail(outcome, SolveStatus::stopped,
           fmt::format("stopped after {} of {} steps in time, at {:.6g}", done, steps,
                       outcome.time));
    } else if (outcome.error > options.tolerance) {
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
    const auto rows = static_cast<std::size_t>(matrix.rows());
    if (v.size() != rows || result.size() != rows) {
      throw InvalidArgument(fmt::format("vectors of {} and {} elements for a matrix of {} rows",
                                        v.size(), result.size(), rows));
    }
    if (!std::isfinite(time)) throw InvalidArgument("the time is not finite");
    ExponentialResult outcome{.time = time};
    if (!all_finite<V>(v)) {
      std::copy(v.begin(), v.end(), result.begin());
      outcome.time = 0;
      fail(outcome, SolveStatus::not_finite, "the vector is not finite");
      return outcome;
    }
    if (std::any_of(v.begin(), v.end(), [](const V& value) { return value != V(0); })) return {};
    std::fill(result.begin(), result.end(), V(0));
    return outcome;
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
    const bool by_series = options.method == ExponentialMethod::chebyshev ||
                           (options.method == ExponentialMethod::automatic && hermitian);
    return by_series ? phi_by_series(k, time, v, result) : phi_by_augmented(k, time, v, result);
  }

  ExponentialResult phi_by_series(int k, double time, std::span<const V> v, std::span<V> result) {
    const RunningClock setup;
    const ChebyshevInterval on = interval();
    const double tolerance = std::max(options.tolerance, kEpsilon / 2);
    const int degree =
        exponential_degree(time * on.radius(), false, tolerance, options.most_degree);
    if (degree > options.most_degree) {
      throw InvalidArgument(fmt::format("φ_{} needs a degree above {}", k, options.most_degree));
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
    // The vector is divided by its largest element, so that it does not ask for more steps.
    Real largest = 0;
    for (const V& value : v) largest = std::max(largest, std::abs(value));
    std::vector<V> scaled(v.begin(), v.end());
    for (V& value : scaled) value /= largest;
    const Csr<V, I> larger = augmented<V, I>(matrix, V(static_cast<Real>(time)), scaled, k);
    ExponentialOptions for_one_vector = options;
    for_one_vector.autotune = false;
    State state(larger, for_one_vector);
    std::vector<V> unit(static_cast<std::size_t>(larger.rows())), whole(unit.size());
    unit.back() = V(1);
    const double before = setup.seconds();
    ExponentialResult outcome = state.apply({1, false}, unit, whole);
    for (std::size_t i = 0; i < v.size(); ++i) result[i] = largest * whole[i];
    outcome.setup_seconds += before;
    outcome.time *= time;
    return outcome;
  }

  Csr<V, I> matrix;
  ExponentialOptions options;
  bool hermitian = false;
  bool bounds_known = false;
  SpectrumBounds bounds;
  std::unique_ptr<ProcessorPowers<V, I>> powers;
};

template <Value V, Index I>
MatrixExponential<V, I>::MatrixExponential(const Csr<V, I>& matrix,
                                           const ExponentialOptions& options)
    : state_(std::make_unique<State>(matrix, options)) {}
template <Value V, Index I>
MatrixExponential<V, I>::~MatrixExponential() = default;
template <Value V, Index I>
MatrixExponential<V, I>::MatrixExponential(MatrixExponential&&) noexcept = default;
template <Value V, Index I>
MatrixExponential<V, I>& MatrixExponential<V, I>::operator=(MatrixExponential&&) noexcept = default;

template <Value V, Index I>
ExponentialResult MatrixExponential<V, I>::apply(double time, std::span<const V> v,
                                                 std::span<V> result) {
  return state_->apply({time, false}, v, result);
}

template <Value V, Index I>
ExponentialResult MatrixExponential<V, I>::apply_imaginary(double time, std::span<const V> v,
                                                           std::span<V> result) {
  if constexpr (is_complex<V>) {
    return state_->apply({time, true}, v, result);
  } else {
    throw InvalidArgument("imaginary time needs complex vectors");
  }
}

template <Value V, Index I>
ExponentialResult MatrixExponential<V, I>::phi(int k, double time, std::span<const V> v,
                                               std::span<V> result) {
  return state_->phi(k, time, v, result);
}

template <Value V, Index I>
bool MatrixExponential<V, I>::hermitian() const {
  return state_->hermitian;
}

template <Value V, Index I>
ChebyshevInterval MatrixExponential<V, I>::bounds() {
  return state_->interval();
}

#define STRATA_INSTANTIATE(V, I) template class MatrixExponential<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers
