// Eigenvalues on ranks: solvers/eigen_solver.hpp and solvers/density_of_states.hpp where every rank
// has some rows of the matrix, and of eigenvectors the elements of these rows.
//
//   const auto pairs = eigenpairs(world, matrix, {.method = solvers::EigenMethod::ca_lanczos});
//   pairs.result.values, pairs.vectors   // of the rank's rows
//
// All functions are collective; results are the same on all ranks but for vectors and times. Any
// rank may stop them by its `progress`, and what that throws on one rank all throw at the end.
#pragma once

#include "strata/base/types.hpp"
#include "strata/distributed/communicator.hpp"
#include "strata/distributed/linear_solver.hpp"
#include "strata/distributed/matrix.hpp"
#include "strata/solvers/density_of_states.hpp"
#include "strata/solvers/eigen_solver.hpp"

namespace strata::distributed {

// Throw on all ranks what the functions of that name in solvers throw, and InvalidArgument for
// options that differ between ranks; nobody times bare powers.
template <Value V, Index I>
solvers::Eigenpairs<V> eigenpairs(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                                  const solvers::EigenSolverOptions& options = {},
                                  const SweepOptions& sweeps = {});
template <Value V, Index I>
solvers::DensityOfStates density_of_states(const Communicator& ranks,
                                           const DistributedMatrix<V, I>& matrix,
                                           const solvers::DensityOptions& options = {},
                                           const SweepOptions& sweeps = {});

}  // namespace strata::distributed
