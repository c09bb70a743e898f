// Linear systems by the plans of a planner: what solvers::LinearSolver and
// distributed::LinearSolver are.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "strata/solvers/internal/planner.hpp"
#include "strata/solvers/internal/run_method.hpp"
#include "strata/solvers/internal/spectral.hpp"
#include "strata/solvers/linear_solver.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::solvers::detail {

// The matrix as one of two plans, and what the preconditioner has of it.
template <class Space>
class LinearSolverOn {
 public:
  using V = typename Space::Value;
  using View = typename Space::View;
  using ConstView = typename Space::ConstView;

  // Of a square matrix. Throws what LinearSolver says that it throws. The planner may go.
  LinearSolverOn(const SystemPlanner<Space>& planner, const LinearSolverOptions& options)
      : options_(options) {
    require_options(options);
    if (const int power = powers_of(options); power > 0) {
      auto powers = planner.powers(for_powers(options.product, power));
      powers_ = powers.get();
      plan_ = std::move(powers);
    } else {
      plan_ = planner.product(options.product);
    }
    learn(planner);
  }

  SolveResult solve(std::span<const V> b, std::span<V> x, const SolveOptions& options) {
    require_lengths(std::ssize(b), std::ssize(x), plan_->rows());
    const RunningClock clock;
    Space space = plan_->make_space(plan_->vector_rows());
    auto ordered_b = to_plan_order(space, b), ordered_x = to_plan_order(space, x);
    double product_seconds = 0, preconditioner_seconds = 0;
    const Operator<Space> a = timed<Space>(plan_->as_operator(), product_seconds);
    const Operator<Space> m = timed<Space>(preconditioner(space), preconditioner_seconds);
    const double swept_before = powers_ != nullptr ? powers_->swept().seconds : 0;
    SolveResult result =
        run_method<Space>(options_, space, a, m, powers_, spectrum_, ordered_b, ordered_x, options);
    plan_->to_caller_order(ordered_x, x);
    const bool whole = runs_on_powers(options_.method);  // they call the powers themselves
    result.times = {.total = clock.seconds(),
                    .products = whole ? powers_->swept().seconds - swept_before : product_seconds,
                    .preconditioner = preconditioner_seconds,
                    .orthogonalisation = space.times().blocks,
                    .reductions = space.times().reductions,
                    .updates = space.times().updates - preconditioner_updates_,
                    .cycles = result.times.cycles};
    return result;
  }

  // Of a planner for new values on the old pattern.
  void update_values(const SystemPlanner<Space>& planner) {
    planner.update(*plan_);
    learn(planner);
  }

  Offset rows() const { return plan_->rows(); }
  int threads() const { return plan_->threads(); }
  std::string variant() const { return plan_->variant(); }
  std::string explain() const { return plan_->explain() + spectrum_.text; }

 private:
  typename Space::Vector to_plan_order(Space& space, std::span<const V> of_rows) const {
    auto ordered = space.make_vector();
    plan_->to_plan_order(of_rows, ordered);
    return ordered;
  }

  Operator<Space> preconditioner(Space& space) {
    preconditioner_updates_ = 0;
    switch (options_.preconditioner) {
      case Preconditioner::none: return {};
      case Preconditioner::jacobi:
        return [this, &space](ConstView from, View to) {
          const double before = space.times().updates;
          VectorProgram<V> program;
          program.set(to, {weighted<V>(from, inverse_diagonal_)});
          space.run(program);
          preconditioner_updates_ += space.times().updates - before;
        };
      case Preconditioner::block_jacobi: return blocks_;
      default: return as_operator<Space>(spectrum_.polynomial, *powers_);
    }
  }

  // What preconditioners and polynomials take from the values.
  void learn(const SystemPlanner<Space>& planner) {
    Space space = plan_->make_space(plan_->vector_rows());
    if (options_.preconditioner == Preconditioner::jacobi) {
      inverse_diagonal_ = to_plan_order(space, planner.inverse_diagonal());
    }
    if (options_.preconditioner == Preconditioner::block_jacobi) {
      blocks_ = planner.block_jacobi(options_.block_rows, *plan_);
    }
    if (asks_for_spectrum(options_)) {
      auto start = space.make_vector();
      plan_->random()(start, 1);
      spectrum_ =
          find_spectrum<Space>(options_, space, plan_->as_operator(), start, planner.gershgorin());
    }
  }

  LinearSolverOptions options_;
  std::unique_ptr<PlannedProduct<Space>> plan_;
  PlannedPowers<Space>* powers_ = nullptr;   // the plan, if it is one for powers
  typename Space::Vector inverse_diagonal_;  // in the plan's order
  Operator<Space> blocks_;
  Spectral<V> spectrum_;
  double preconditioner_updates_ = 0;  // seconds that the space has clocked as updates
};

}  // namespace strata::solvers::detail
