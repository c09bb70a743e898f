// The portable wavefront sweep over tiles of encoded values.
#include "strata/execute/gpu/internal/portable_launch.hpp"

namespace strata::gpu::detail {

STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_SWEEP, true);

}  // namespace strata::gpu::detail
