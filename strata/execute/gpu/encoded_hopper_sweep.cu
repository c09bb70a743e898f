// The wavefront sweep for Hopper GPUs over tiles of encoded values.
#include "strata/execute/gpu/internal/hopper_launch.hpp"

namespace strata::gpu::detail {

STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_HOPPER_SWEEP, true);

}  // namespace strata::gpu::detail
