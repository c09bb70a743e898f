// The methods of LinearSolver by their names, for every space.
#pragma once

#include <fmt/format.h>

#include "strata/base/error.hpp"
#include "strata/solvers/bicgstab.hpp"
#include "strata/solvers/cg.hpp"
#include "strata/solvers/gmres.hpp"
#include "strata/solvers/linear_solver.hpp"
#include "strata/solvers/minres.hpp"

namespace strata::solvers::detail {

// b and x in the plan's order.
template <class Space>
SolveResult run_method(const LinearSolverOptions& solver, Space& space, const Operator<Space>& a,
                       const Operator<Space>& preconditioner, typename Space::ConstView b,
                       typename Space::View x, const SolveOptions& options) {
  switch (solver.method) {
    case Method::cg: return conjugate_gradients(space, a, preconditioner, b, x, options);
    case Method::minres: return minres(space, a, preconditioner, b, x, options);
    case Method::bicgstab: return bicgstab(space, a, preconditioner, b, x, options);
    case Method::gmres: break;
  }
  return gmres(space, a, preconditioner, b, x, {options, solver.restart});
}

inline void require_square(Offset rows, Offset cols) {
  if (rows == cols) return;
  throw InvalidArgument(
      fmt::format("a matrix of {} rows and {} columns has no solution for every right-hand side: "
                  "it is not square",
                  rows, cols));
}

inline void require_lengths(Offset b, Offset x, Offset rows) {
  if (b == rows && x == rows) return;
  throw InvalidArgument(
      fmt::format("vectors of {} and {} elements for a matrix of {} rows", b, x, rows));
}

}  // namespace strata::solvers::detail
