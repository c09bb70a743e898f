#include "strata/solvers/linear_solver.hpp"

#include <fmt/format.h>

#include <complex>
#include <optional>

#include "strata/base/instantiate.hpp"

#include "strata/plans/product_plan.hpp"
#include "strata/solvers/block_jacobi.hpp"
#include "strata/solvers/diagonal.hpp"
#include "strata/solvers/internal/run_method.hpp"
#include "strata/solvers/internal/spectral.hpp"
#include "strata/solvers/internal/variant.hpp"
#include "strata/solvers/processor_powers.hpp"
#include "strata/solvers/processor_space.hpp"
#include "strata/solvers/random_rows.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::solvers {

namespace {

ProductOptions in_plan_order(ProductOptions options) {
  options.vector_order = VectorOrder::plan;
  return options;
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
    detail::require_square(matrix.rows(), matrix.cols());
    detail::require_options(options);
    if (const int power = detail::powers_of(options); power > 0) {
      powers_.emplace(matrix, detail::for_powers(options.product, power));
    } else {
      product_ = plan_product(matrix, in_plan_order(options.product));
      workspace_ = product_.make_workspace();
    }
    learn(matrix);
  }

  SolveResult solve(std::span<const V> b, std::span<V> x, const SolveOptions& options) {
    detail::require_lengths(std::ssize(b), std::ssize(x), order().rows());
    const RunningClock clock;
    Space space(vector_rows(), threads());
    auto ordered_b = to_plan_order(space, b), ordered_x = to_plan_order(space, x);
    double product_seconds = 0, preconditioner_seconds = 0;
    const Operator<Space> a = timed<Space>(product(), product_seconds);
    const Operator<Space> m = timed<Space>(preconditioner(space), preconditioner_seconds);
    const double powers_before = powers_ ? powers_->seconds() : 0;
    SolveResult result =
        detail::run_method<Space>(options_, space, a, m, powers_ ? &*powers_ : nullptr, spectrum_,
                                  ordered_b, ordered_x, options);
    scatter(ordered_x, x);
    const bool whole = detail::runs_on_powers(options_.method);  // they call the powers themselves
    result.times = {.total = clock.seconds(),
                    .products = whole ? powers_->seconds() - powers_before : product_seconds,
                    .preconditioner = preconditioner_seconds,
                    .orthogonalisation = space.times().blocks,
                    .reductions = space.times().reductions,
                    .updates = space.times().updates - preconditioner_updates_,
                    .cycles = result.times.cycles};
    return result;
  }

  void update_values(const Csr<V, I>& matrix) {
    powers_ ? powers_->update_values(matrix) : product_.update_values(matrix);
    learn(matrix);
  }

  int threads() const { return powers_ ? powers_->plan().threads() : product_.threads(); }

  std::string variant() const {
    return powers_ ? detail::variant_of_powers(powers_->plan().choice())
                   : detail::variant_of_product(product_.choice());
  }

  std::string explain() const {
    const std::string text = powers_ ? powers_->plan().explain() : product_.explain();
    return text + spectrum_.text;
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
      default: return as_operator<Space>(spectrum_.polynomial, *powers_);
    }
  }

  // What preconditioners and polynomials take from the values.
  void learn(const Csr<V, I>& matrix) {
    Space space(vector_rows(), threads());
    if (options_.preconditioner == Preconditioner::jacobi) {
      inverse_diagonal_ = to_plan_order(space, inverse_diagonal(matrix));
    }
    if (options_.preconditioner == Preconditioner::block_jacobi) {
      const ThreadCountScope scope(threads());
      blocks_ = BlockJacobi<V, I>(matrix, options_.block_rows, order());
    }
    if (detail::asks_for_spectrum(options_)) {
      auto start = to_plan_order(space, random_rows<V>(matrix.rows(), 1, 1));
      spectrum_ = detail::find_spectrum<Space>(options_, space, product(), start,
                                               gershgorin_bounds(matrix));
    }
  }

  LinearSolverOptions options_;
  std::optional<ProcessorPowers<V, I>> powers_;
  ProductPlan<V, I> product_;
  typename ProductPlan<V, I>::Workspace workspace_;
  Array<V> inverse_diagonal_;  // in the plan's order
  BlockJacobi<V, I> blocks_;
  detail::Spectral<V> spectrum_;
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
std::string LinearSolver<V, I>::variant() const {
  return engine_->variant();
}

template <Value V, Index I>
std::string LinearSolver<V, I>::explain() const {
  return engine_->explain();
}

#define STRATA_INSTANTIATE(V, I) template class LinearSolver<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers
