// The sweep whose values are their own flags, of type std::complex<double>.
#include <complex>

#include "strata/execute/gpu/internal/flagged_kernels.hpp"

namespace strata::gpu::detail {

STRATA_INSTANTIATE_FLAGGED_SWEEP(std::complex<double>);

}  // namespace strata::gpu::detail
