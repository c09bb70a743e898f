// The sweep whose values are their own flags, of type double.
#include "strata/execute/gpu/internal/flagged_kernels.hpp"

namespace strata::gpu::detail {

STRATA_INSTANTIATE_FLAGGED_SWEEP(double);

}  // namespace strata::gpu::detail
