// The sweep whose values are their own flags, of type std::complex<float>.
#include <complex>

#include "strata/execute/gpu/internal/flagged_kernels.hpp"

namespace strata::gpu::detail {

STRATA_INSTANTIATE_FLAGGED_SWEEP(std::complex<float>);

}  // namespace strata::gpu::detail
