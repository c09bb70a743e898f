// Eigenpairs on a GPU: the counterpart of solvers/eigen_solver.hpp, with the same methods, options
// and results.
//
//   Stream stream;
//   const auto [result, vectors] =
//       eigenpairs(matrix, {.eigen = {.count = 4, .which = solvers::Wanted::smallest}}, stream);
//
// The basis stays on the device. The host reads a column of H after every vector of lanczos, two
// small matrices after every sweep of ca_lanczos, and as many after every iteration of filter.
#pragma once

#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/solvers/eigen_solver.hpp"

namespace strata::gpu {

// Returns when all is done. Throws what solvers::eigenpairs and the plans of GPUs throw, and
// InvalidArgument for subspaces of more than 2048 vectors. Options that are about processors have
// no meaning here. Of the times, nobody stops the clock between the kernels that are not products.
template <Value V, Index I>
solvers::Eigenpairs<V> eigenpairs(const Csr<V, I>& matrix,
                                  const solvers::EigenSolverOptions& options, Stream& stream);

}  // namespace strata::gpu
