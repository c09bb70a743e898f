// The methods of LinearSolver by their names, for every space.
#pragma once

#include <fmt/format.h>

#include "strata/base/error.hpp"
#include "strata/solvers/bicgstab.hpp"
#include "strata/solvers/ca_cg.hpp"
#include "strata/solvers/ca_gmres.hpp"
#include "strata/solvers/cg.hpp"
#include "strata/solvers/chebyshev_iteration.hpp"
#include "strata/solvers/fused_ca_gmres.hpp"
#include "strata/solvers/fused_cg.hpp"
#include "strata/solvers/fused_gmres.hpp"
#include "strata/solvers/fused_minres.hpp"
#include "strata/solvers/gmres.hpp"
#include "strata/solvers/internal/spectral.hpp"
#include "strata/solvers/linear_solver.hpp"
#include "strata/solvers/minres.hpp"

namespace strata::solvers::detail {

// b and x in the plan's order. Powers for the methods that run on them, else none.
template <class Space>
SolveResult run_method(const LinearSolverOptions& solver, Space& space, const Operator<Space>& a,
                       const Operator<Space>& preconditioner, Powers<Space>* powers,
                       const Spectral<typename Space::Value>& spectrum, typename Space::ConstView b,
                       typename Space::View x, const SolveOptions& options) {
  switch (solver.method) {
    case Method::cg:
      return solver.fused ? fused_conjugate_gradients(space, a, preconditioner, b, x, options)
                          : conjugate_gradients(space, a, preconditioner, b, x, options);
    case Method::minres:
      return solver.fused ? fused_minres(space, a, preconditioner, b, x, options)
                          : minres(space, a, preconditioner, b, x, options);
    case Method::bicgstab: return bicgstab(space, a, preconditioner, b, x, options, solver.fused);
    case Method::gmres:
      return solver.fused ? fused_gmres(space, a, preconditioner, b, x, {options, solver.restart})
                          : gmres(space, a, preconditioner, b, x, {options, solver.restart});
    case Method::ca_cg:
      return ca_conjugate_gradients(space, *powers, b, x, {options, solver.basis, solver.fused});
    case Method::ca_gmres: {
      const int blocks = std::max(solver.restart / solver.powers, 1);
      return solver.fused ? fused_ca_gmres(space, *powers, b, x, {options, blocks, solver.basis})
                          : ca_gmres(space, *powers, b, x, {options, blocks, solver.basis});
    }
    case Method::chebyshev: break;
  }
  return chebyshev_iteration(space, *powers, b, x, {options, spectrum.low, spectrum.high});
}

// Throws InvalidArgument for options that do not go together.
inline void require_options(const LinearSolverOptions& options) {
  if (runs_on_powers(options.method) && options.preconditioner != Preconditioner::none) {
    throw InvalidArgument(fmt::format("{} runs without a preconditioner, and {} was asked for",
                                      name_of(options.method), name_of(options.preconditioner)));
  }
  if (options.powers < 1 || options.degree < 1) {
    throw InvalidArgument("powers and degrees are at least 1");
  }
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
