#include "strata/solvers/linear_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <optional>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/random.hpp"
#include "strata/plans/product_plan.hpp"
#include "strata/solvers/bicgstab.hpp"
#include "strata/solvers/block_jacobi.hpp"
#include "strata/solvers/ca_cg.hpp"
#include "strata/solvers/ca_gmres.hpp"
#include "strata/solvers/cg.hpp"
#include "strata/solvers/chebyshev_iteration.hpp"
#include "strata/solvers/gmres.hpp"
#include "strata/solvers/inverse_polynomial.hpp"
#include "strata/solvers/minres.hpp"
#include "strata/solvers/processor_powers.hpp"
#include "strata/solvers/processor_space.hpp"
#include "strata/solvers/spectrum_bounds.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::solvers {

namespace {

ProductOptions in_plan_order(ProductOptions options) {
  options.vector_order = VectorOrder::plan;
  return options;
}

// The same wishes for a plan for powers.
PowerOptions for_powers(const ProductOptions& product, int power) {
  PowerOptions options;
  options.power = power;
  options.format = product.format;
  options.slice_height = product.slice_height;
  options.values = product.values;
  options.autotune = product.autotune;
  options.threads = product.threads;
  options.affinity = product.affinity;
  options.profile = product.profile;
  return options;
}

bool is_polynomial(Preconditioner preconditioner) {
  return preconditioner == Preconditioner::chebyshev || preconditioner == Preconditioner::neumann ||
         preconditioner == Preconditioner::gmres;
}

// How many powers at a time the method and its preconditioner need; 0: single products.
int powers_of(const LinearSolverOptions& options) {
  switch (options.method) {
    case Method::ca_cg:
    case Method::ca_gmres: return options.powers;
    case Method::chebyshev: return options.degree;
    default: return is_polynomial(options.preconditioner) ? options.degree : 0;
  }
}

void require_options(const LinearSolverOptions& options) {
  const bool alone = options.method == Method::ca_cg || options.method == Method::ca_gmres ||
                     options.method == Method::chebyshev;
  if (alone && options.preconditioner != Preconditioner::none) {
    throw InvalidArgument(fmt::format("{} runs without a preconditioner, and {} was asked for",
                                      name_of(options.method), name_of(options.preconditioner)));
  }
  if (options.powers < 1 || options.degree < 1) {
    throw InvalidArgument("powers and degrees are at least 1");
  }
}

}  // namespace

std::string_view name_of(Method method) {
  switch (method) {
    case Method::cg: return "cg";
    case Method::ca_cg: return "ca-cg";
    case Method::minres: return "minres";
    case Method::bicgstab: return "bicgstab";
    case Method::gmres: return "gmres";
    case Method::ca_gmres: return "ca-gmres";
    case Method::chebyshev: return "chebyshev";
  }
  return "";
}

std::string_view name_of(Preconditioner preconditioner) {
  switch (preconditioner) {
    case Preconditioner::none: return "none";
    case Preconditioner::jacobi: return "jacobi";
    case Preconditioner::block_jacobi: return "block-jacobi";
    case Preconditioner::chebyshev: return "chebyshev";
    case Preconditioner::neumann: return "neumann";
    case Preconditioner::gmres: return "gmres";
  }
  return "";
}

// The matrix as one of two plans, and what the preconditioner has of it.
template <Value V, Index I>
class LinearSolver<V, I>::Engine {
 public:
  using Space = ProcessorSpace<V>;

  Engine(const Csr<V, I>& matrix, const LinearSolverOptions& options) : options_(options) {
    if (matrix.rows() != matrix.cols()) {
      throw InvalidArgument(
          fmt::format("a matrix of {} rows and {} columns has no solution for every "
                      "right-hand side: it is not square",
                      matrix.rows(), matrix.cols()));
    }
    require_options(options);
    if (const int power = powers_of(options); power > 0) {
      powers_.emplace(matrix, for_powers(options.product, power));
    } else {
      product_ = plan_product(matrix, in_plan_order(options.product));
      workspace_ = product_.make_workspace();
    }
    learn(matrix);
  }

  SolveResult solve(std::span<const V> b, std::span<V> x, const SolveOptions& options) {
    const auto rows = static_cast<std::size_t>(order().rows());
    if (b.size() != rows || x.size() != rows) {
      throw InvalidArgument(fmt::format("vectors of {} and {} elements for a matrix of {} rows",
                                        b.size(), x.size(), rows));
    }
    const RunningClock clock;
    Space space(vector_rows(), threads());
    auto ordered_b = to_plan_order(space, b), ordered_x = to_plan_order(space, x);
    double product_seconds = 0, preconditioner_seconds = 0;
    const Operator<Space> a = timed<Space>(product(), product_seconds);
    const Operator<Space> m = timed<Space>(preconditioner(space), preconditioner_seconds);
    const double powers_before = powers_ ? powers_->seconds() : 0;
    SolveResult result = run(space, a, m, ordered_b, ordered_x, options);
    scatter(ordered_x, x);
    const bool whole = powers_of(options_) > 0 && !m;  // methods that call the powers themselves
    result.times = {.total = clock.seconds(),
                    .products = whole ? powers_->seconds() - powers_before : product_seconds,
                    .preconditioner = preconditioner_seconds,
                    .orthogonalisation = space.times().blocks,
                    .reductions = space.times().reductions,
                    .updates = space.times().updates - preconditioner_updates_};
    return result;
  }

  void update_values(const Csr<V, I>& matrix) {
    powers_ ? powers_->update_values(matrix) : product_.update_values(matrix);
    learn(matrix);
  }

  int threads() const { return powers_ ? powers_->plan().threads() : product_.threads(); }

  std::string explain() const {
    std::string text = powers_ ? powers_->plan().explain() : product_.explain();
    if (!spectrum_.empty()) text += spectrum_;
    return text;
  }

 private:
  const PaddedOrder<I>& order() const {
    return powers_ ? powers_->plan().order() : product_.order();
  }
  I vector_rows() const { return powers_ ? powers_->plan().vector_rows() : product_.x_rows(); }

  Array<V> to_plan_order(Space& space, std::span<const V> of_rows) const {
    auto ordered = space.make_vector();
    powers_ ? powers_->plan().to_plan_order(of_rows, ordered)
            : product_.to_plan_order(of_rows, ordered);
    return ordered;
  }
  void scatter(std::span<const V> ordered, std::span<V> of_rows) const {
    powers_ ? powers_->plan().to_caller_order(ordered, of_rows)
            : product_.to_caller_order(ordered, of_rows);
  }

  Operator<Space> product() {
    return [this](std::span<const V> from, std::span<V> to) {
      powers_ ? powers_->multiply(from, to) : product_.apply(from, to, workspace_);
    };
  }

  Operator<Space> preconditioner(Space& space) {
    preconditioner_updates_ = 0;
    switch (options_.preconditioner) {
      case Preconditioner::none: return {};
      case Preconditioner::jacobi:
        return [this, &space](std::span<const V> from, std::span<V> to) {
          const double before = space.times().updates;
          VectorProgram<V> program;
          program.set(to, {weighted<V>(from, inverse_diagonal_)});
          space.run(program);
          preconditioner_updates_ += space.times().updates - before;
        };
      case Preconditioner::block_jacobi:
        return [this](std::span<const V> from, std::span<V> to) {
          const ThreadCountScope scope(threads());
          blocks_.apply(from, to);
        };
      default: return as_operator<Space>(polynomial_, *powers_);
    }
  }

  SolveResult run(Space& space, const Operator<Space>& a, const Operator<Space>& m,
                  std::span<const V> b, std::span<V> x, const SolveOptions& options) {
    switch (options_.method) {
      case Method::cg: return conjugate_gradients(space, a, m, b, x, options);
      case Method::minres: return minres(space, a, m, b, x, options);
      case Method::bicgstab: return bicgstab(space, a, m, b, x, options);
      case Method::gmres: return gmres(space, a, m, b, x, {options, options_.restart});
      case Method::ca_cg:
        return ca_conjugate_gradients<Space>(space, *powers_, b, x, {options, options_.basis});
      case Method::ca_gmres: {
        const int blocks = std::max(options_.restart / options_.powers, 1);
        return ca_gmres<Space>(space, *powers_, b, x, {options, blocks, options_.basis});
      }
      case Method::chebyshev: break;
    }
    return chebyshev_iteration<Space>(space, *powers_, b, x,
                                      {options, interval_.low, interval_.high});
  }

  // What preconditioners and polynomials take from the values.
  void learn(const Csr<V, I>& matrix) {
    spectrum_.clear();
    if (options_.preconditioner == Preconditioner::jacobi) take_diagonal(matrix);
    if (options_.preconditioner == Preconditioner::block_jacobi) {
      const ThreadCountScope scope(threads());
      blocks_ = BlockJacobi<V, I>(matrix, options_.block_rows, order());
    }
    if (options_.preconditioner == Preconditioner::gmres) {
      polynomial_ = gmres_inverse<V>(harmonic_ritz_values());
      spectrum_ = fmt::format("The preconditioner is the {}.\n", polynomial_.name);
    } else if (options_.method == Method::chebyshev || is_polynomial(options_.preconditioner)) {
      bound_spectrum(matrix);
    }
  }

  void take_diagonal(const Csr<V, I>& matrix) {
    std::vector<V> inverse(static_cast<std::size_t>(matrix.rows()), V(0));
    for (I row = 0; row < matrix.rows(); ++row) {
      V& sum = inverse[static_cast<std::size_t>(row)];
      for (Offset k = matrix.row_offsets()[static_cast<std::size_t>(row)];
           k < matrix.row_offsets()[static_cast<std::size_t>(row) + 1]; ++k) {
        if (matrix.columns()[static_cast<std::size_t>(k)] == row) {
          sum += matrix.values()[static_cast<std::size_t>(k)];
        }
      }
      if (sum == V(0)) {
        throw InvalidArgument(fmt::format(
            "row {} has no diagonal to divide by, as the preconditioner jacobi does", row + 1));
      }
      sum = V(1) / sum;
    }
    Space space(vector_rows(), threads());
    inverse_diagonal_ = to_plan_order(space, inverse);
  }

  Array<V> random_start(Space& space) const {
    const Random random(1, 0);
    std::vector<V> numbers(static_cast<std::size_t>(order().rows()));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = narrowed<V>(random.uniform(i, -1, 1));
    }
    return to_plan_order(space, numbers);
  }

  void bound_spectrum(const Csr<V, I>& matrix) {
    Space space(vector_rows(), threads());
    auto start = random_start(space);
    const SpectrumBounds bounds = intersected(
        estimate_bounds<Space>(space, product(), start, kSteps), gershgorin_bounds(matrix));
    if (!(bounds.smallest > 0)) {
      throw Error(
          fmt::format("the matrix is not positive definite, as {} needs: it has an eigenvalue of "
                      "at most {:.3g}",
                      options_.method == Method::chebyshev ? std::string("the method chebyshev")
                                                           : "a preconditioner of positive spectra",
                      bounds.smallest));
    }
    // A few steps do not find the smallest eigenvalues. What is below the interval is damped less,
    // and nothing is amplified.
    interval_.high = bounds.high;
    interval_.low = std::min(bounds.smallest, bounds.high / 2);
    if (options_.preconditioner == Preconditioner::neumann) {
      polynomial_ = neumann_inverse<V>(1 / interval_.high, options_.degree);
    } else {
      if (options_.preconditioner == Preconditioner::chebyshev) {
        // Small eigenvalues are left to the method around it.
        interval_.low = std::max(interval_.low, interval_.high / (4.0 * square(options_.degree)));
      }
      polynomial_ = chebyshev_inverse<V>(interval_.low, interval_.high, options_.degree);
    }
    spectrum_ = fmt::format(
        "Eigenvalues are taken to be in [{:.3g}, {:.3g}], by {} steps of Lanczos' method and "
        "Gershgorin's circles; the polynomial is {}.\n",
        interval_.low, interval_.high, bounds.products, polynomial_.name);
  }

  static double square(int number) { return static_cast<double>(number) * number; }

  // Of the Krylov space of degree + 1 vectors: the eigenvalues of H + h² H⁻ᴴ e eᵀ.
  std::vector<std::complex<double>> harmonic_ritz_values() {
    Space space(vector_rows(), threads());
    auto start = random_start(space);
    const int most = static_cast<int>(
        std::min<Offset>(options_.degree + 1, std::max<Offset>(order().rows(), 1)));
    detail::BlockArnoldi<Space> arnoldi(space, most, 1);
    const Scalar norm = space.make_scalars(2);
    VectorProgram<V> measure;
    measure.dot(start, start, norm);
    space.run(measure);
    space.write(norm + 1, narrowed<V>(1 / std::sqrt(std::real(space.read(norm)))));
    VectorProgram<V> normalise;
    auto first = arnoldi.column(0);
    normalise.set(first, {{start, norm + 1}});
    space.run(normalise);
    Dense<Wide<V>> plain(2, 1);
    plain(1, 0) = Wide<V>(1);
    const Operator<Space> a = product();
    bool exhausted = false;
    while (arnoldi.size() < most && !exhausted) {
      const int k = arnoldi.size();
      a(arnoldi.column(k), arnoldi.column(k + 1));
      exhausted = arnoldi.append(plain) == 0;
    }
    const int size = arnoldi.size();
    Dense<Wide<V>> h = arnoldi.h().part(0, 0, size, size);
    Dense<Wide<V>> last(size, 1);
    last(size - 1, 0) = Wide<V>(1);
    const double below = std::norm(arnoldi.h()(size, size - 1));
    const Dense<Wide<V>> correction = solvers::solve(adjoint(h), last);
    for (int i = 0; i < size; ++i) h(i, size - 1) += below * correction(i, 0);
    auto values = eigenvalues(h);
    for (const auto& value : values) {
      if (!std::isfinite(std::abs(value)) || value == 0.0) {
        throw Error("the matrix is singular: no polynomial of it is near its inverse");
      }
    }
    // A space that is exhausted has fewer; repeated ones make the polynomial no worse.
    return leja_ordered(values, options_.degree + 1);
  }

  static constexpr int kSteps = 30;

  LinearSolverOptions options_;
  std::optional<ProcessorPowers<V, I>> powers_;
  ProductPlan<V, I> product_;
  typename ProductPlan<V, I>::Workspace workspace_;
  Array<V> inverse_diagonal_;  // in the plan's order
  BlockJacobi<V, I> blocks_;
  InversePolynomial<V> polynomial_ = {};
  SpectrumBounds interval_;
  std::string spectrum_;
  double preconditioner_updates_ = 0;  // seconds that the space has clocked as updates
};

template <Value V, Index I>
LinearSolver<V, I>::LinearSolver(const Csr<V, I>& matrix, const LinearSolverOptions& options)
    : engine_(std::make_unique<Engine>(matrix, options)) {}
template <Value V, Index I>
LinearSolver<V, I>::~LinearSolver() = default;
template <Value V, Index I>
LinearSolver<V, I>::LinearSolver(LinearSolver&&) noexcept = default;
template <Value V, Index I>
LinearSolver<V, I>& LinearSolver<V, I>::operator=(LinearSolver&&) noexcept = default;

template <Value V, Index I>
SolveResult LinearSolver<V, I>::solve(std::span<const V> b, std::span<V> x,
                                      const SolveOptions& options) {
  return engine_->solve(b, x, options);
}

template <Value V, Index I>
void LinearSolver<V, I>::update_values(const Csr<V, I>& matrix) {
  engine_->update_values(matrix);
}

template <Value V, Index I>
int LinearSolver<V, I>::threads() const {
  return engine_->threads();
}

template <Value V, Index I>
std::string LinearSolver<V, I>::explain() const {
  return engine_->explain();
}

#define STRATA_INSTANTIATE(V, I) template class LinearSolver<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers
