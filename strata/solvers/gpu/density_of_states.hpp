// The density of states by the kernel polynomial method on a GPU: the counterpart of
// solvers/density_of_states.hpp, of the same random vectors.
//
//   Stream stream;
//   const auto density = density_of_states(matrix, {.moments = 1024}, stream);
//
// Blocks of 8 vectors stay on the device, and the host reads the moments of a sweep.
#pragma once

#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/solvers/density_of_states.hpp"

namespace strata::gpu {

// Returns when all is done. Throws what solvers::density_of_states and the plans of GPUs throw.
template <Value V, Index I>
solvers::DensityOfStates density_of_states(const Csr<V, I>& matrix,
                                           const solvers::DensityOptions& options, Stream& stream);

}  // namespace strata::gpu
