#include "strata/distributed/linear_solver.hpp"

#include <fmt/format.h>

#include <exception>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/distributed/internal/planner.hpp"
#include "strata/solvers/internal/linear_solver_on.hpp"

namespace strata::distributed {

using solvers::LinearSolverOptions;
using solvers::ProcessorSpace;
using solvers::SolveOptions;
using solvers::SolveResult;

namespace {

LinearSolverOptions fused(LinearSolverOptions options) {
  options.fused = true;
  return options;
}

// Those of products are compared where they are planned.
std::string text_of(const LinearSolverOptions& options) {
  return fmt::format(
      "method {}, preconditioner {}, restart {}, powers {}, basis {}, degree {}, "
      "blocks of {} rows",
      name_of(options.method), name_of(options.preconditioner), options.restart, options.powers,
      name_of(options.basis), options.degree, options.block_rows);
}

}  // namespace

template <Value V>
struct LinearSolver<V>::State {
  using Engine = solvers::detail::LinearSolverOn<ProcessorSpace<V>>;

  template <Index I>
  State(const Communicator& communicator, const DistributedMatrix<V, I>& matrix,
        const LinearSolverOptions& options, const detail::RankPlans& plans)
      : ranks(communicator), stop(plans.stop), engine(*plan(matrix, options, plans), options) {}

  template <Index I>
  auto plan(const DistributedMatrix<V, I>& matrix, const LinearSolverOptions& options,
            const detail::RankPlans& plans) {
    solvers::detail::require_square(matrix.rows.elements(), matrix.cols.elements());
    if (!matrix.square()) {
      throw InvalidArgument("rows and columns of a matrix that is solved with have the same ranks");
    }
    ranks.require_same("the options of a solver",
                       fmt::format("{}, depth {}", text_of(options), plans.depth));
    return detail::rank_planner(ranks, matrix, plans);
  }

  const Communicator& ranks;
  std::shared_ptr<detail::Stop> stop;
  Engine engine;
};

template <Value V>
template <Index I>
LinearSolver<V>::LinearSolver(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                              const LinearSolverOptions& options, const SweepOptions& sweeps)
    : state_(std::make_unique<State>(ranks, matrix, fused(options),
                                     detail::RankPlans{.threads = options.product.threads,
                                                       .depth = sweeps.depth,
                                                       .network = sweeps.network})) {}
template <Value V>
LinearSolver<V>::~LinearSolver() = default;
template <Value V>
LinearSolver<V>::LinearSolver(LinearSolver&&) noexcept = default;
template <Value V>
LinearSolver<V>& LinearSolver<V>::operator=(LinearSolver&&) noexcept = default;

template <Value V>
SolveResult LinearSolver<V>::solve(std::span<const V> b, std::span<V> x,
                                   const SolveOptions& options) {
  State& state = *state_;
  state.ranks.together(
      [&] { solvers::detail::require_lengths(std::ssize(b), std::ssize(x), state.engine.rows()); });
  state.ranks.require_same("what a solution asks for",
                           fmt::format("tolerance {}, at most {} iterations", options.tolerance,
                                       options.most_iterations));
  detail::Stop& stop = *state.stop;
  stop = {};
  std::exception_ptr thrown;
  SolveOptions agreed = options;
  agreed.progress = [&](const solvers::Iteration& now) {
    if (options.progress && !stop.wanted) {
      try {
        stop.wanted = !options.progress(now);
      } catch (...) {
        thrown = std::current_exception();
        stop.wanted = true;
      }
    }
    return !stop.agreed;
  };
  SolveResult result = state.engine.solve(b, x, agreed);
  state.ranks.together([&] {
    if (thrown) std::rethrow_exception(thrown);
  });
  return result;
}

template <Value V>
template <Index I>
void LinearSolver<V>::update_values(const DistributedMatrix<V, I>& matrix) {
  State& state = *state_;
  detail::RankPlans plans;
  plans.threads = threads();
  plans.stop = state.stop;
  state.engine.update_values(*detail::rank_planner(state.ranks, matrix, plans));
}

template <Value V>
Offset LinearSolver<V>::rows() const {
  return state_->engine.rows();
}
template <Value V>
int LinearSolver<V>::threads() const {
  return state_->engine.threads();
}
template <Value V>
std::string LinearSolver<V>::variant() const {
  return state_->engine.variant();
}
template <Value V>
std::string LinearSolver<V>::explain() const {
  return state_->engine.explain();
}

#define STRATA_INSTANTIATE_CLASS(V, unused) template class LinearSolver<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_CLASS, );
#undef STRATA_INSTANTIATE_CLASS
#define STRATA_INSTANTIATE(V, I)                                                              \
  template LinearSolver<V>::LinearSolver(const Communicator&, const DistributedMatrix<V, I>&, \
                                         const LinearSolverOptions&, const SweepOptions&);    \
  template void LinearSolver<V>::update_values(const DistributedMatrix<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::distributed
