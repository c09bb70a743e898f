// LinearSolver on ranks: Ax = b where every rank has some rows of A, and of b and x the elements of
// these rows: the methods of solvers/linear_solver.hpp, run by all ranks together.
//
//   const LinearSolver<double> solver(world, matrix, {.method = solvers::Method::cg});
//   const SolveResult result = solver.solve(b, x);   // the rank's elements of both
//
// Products and powers are those of ranks (product.hpp, powers.hpp), and inner products are summed
// up over all ranks, as few times as methods allow (LinearSolverOptions::fused is always on): one
// reduction per iteration of cg, minres and gmres, two of bicgstab, one per s iterations of ca_cg
// and ca_gmres, one per sweep of chebyshev. Besides: ‖b‖, two or three for every cycle, of which a
// method has one, or one per restart; ca_cg has two for each of its first s iterations and one for
// every true residual that it looks at on its way. All ranks decide the same, by the same numbers.
//
// Results differ in rounding from those of one process, and between numbers of ranks: sums are
// formed in another order. Blocks of block_jacobi begin anew with the first row of every rank.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "strata/base/types.hpp"
#include "strata/distributed/communicator.hpp"
#include "strata/distributed/matrix.hpp"
#include "strata/distributed/network.hpp"
#include "strata/solvers/linear_solver.hpp"
#include "strata/solvers/solve_result.hpp"

namespace strata::distributed {

// How powers of methods and preconditioners exchange; as DistributedPowerOptions has it.
struct SweepOptions {
  int depth = 0;
  const Network* network = nullptr;
};

template <Value V>
class LinearSolver {
 public:
  // Collective. Throws on all ranks what solvers::LinearSolver throws, and InvalidArgument for
  // options that differ between ranks. The communicator must outlive the solver.
  template <Index I>
  LinearSolver(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
               const solvers::LinearSolverOptions& options = {}, const SweepOptions& sweeps = {});
  ~LinearSolver();
  LinearSolver(LinearSolver&&) noexcept;
  LinearSolver& operator=(LinearSolver&&) noexcept;

  // Collective. `x` has the first guess and gets the solution; the result is the same on all ranks
  // but for its times. Throws InvalidArgument on all ranks for vectors of other lengths on one, and
  // options that differ. Any rank may stop it by its `progress`: all stop with the next iteration
  // or block. What `progress` throws on one rank all throw then.
  solvers::SolveResult solve(std::span<const V> b, std::span<V> x,
                             const solvers::SolveOptions& options = {});

  // Collective. New values on the pattern that it was made for; preconditioners and polynomials
  // follow them. Throws InvalidArgument for another pattern.
  template <Index I>
  void update_values(const DistributedMatrix<V, I>& matrix);

  Offset rows() const;  // of this rank
  int threads() const;  // of this rank
  // The same on all ranks.
  std::string variant() const;
  std::string explain() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strata::distributed
