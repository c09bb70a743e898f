// The sweep whose values are their own flags, of type float.
#include "strata/execute/gpu/internal/flagged_kernels.hpp"

namespace strata::gpu::detail {

STRATA_INSTANTIATE_FLAGGED_SWEEP(float);

}  // namespace strata::gpu::detail
