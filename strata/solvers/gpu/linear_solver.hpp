// LinearSolver on a GPU: analyse a matrix once, then solve Ax = b for many right-hand sides, all on
// the device: the counterpart of solvers/linear_solver.hpp, with the same methods and options.
//
//   Stream stream;
//   LinearSolver<double> solver(matrix, {.method = solvers::Method::cg}, stream);
//   const SolveResult result = solver.solve(b, x);   // of the host, or in device memory
//
// An iteration of cg or bicgstab waits for the device once at most, and then for the iteration
// before it: the device always has work.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/solvers/linear_solver.hpp"
#include "strata/solvers/solve_result.hpp"

namespace strata::gpu {

template <Value V>
class LinearSolver {
 public:
  // Throws what solvers::LinearSolver and the plans of GPUs throw. The stream must outlive the
  // solver.
  template <Index I>
  LinearSolver(const Csr<V, I>& matrix, const solvers::LinearSolverOptions& options,
               Stream& stream);
  ~LinearSolver();
  LinearSolver(LinearSolver&&) noexcept;
  LinearSolver& operator=(LinearSolver&&) noexcept;

  // `x` has the first guess and gets the solution. The times are those of the device, without the
  // copies of the vectors, and only as a whole: nobody stops the clock between kernels. Throws
  // InvalidArgument for vectors of other lengths, and DeviceError if the device fails.
  solvers::SolveResult solve(std::span<const V> b, std::span<V> x,
                             const solvers::SolveOptions& options = {});
  solvers::SolveResult solve(DeviceSpan<const V> b, DeviceSpan<V> x,
                             const solvers::SolveOptions& options = {});

  // New values on the old pattern, as for plans.
  template <Index I>
  void update_values(const Csr<V, I>& matrix);

  // How long a product takes, by some that are run for it: by itself or, for methods on powers, in
  // a sweep.
  double product_seconds();

  // As of solvers::LinearSolver.
  std::string variant() const;
  std::string explain() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace strata::gpu
