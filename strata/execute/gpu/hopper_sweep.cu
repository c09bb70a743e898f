// The wavefront sweep for Hopper GPUs over tiles of full values.
#include "strata/execute/gpu/internal/hopper_launch.hpp"

namespace strata::gpu::detail {

#ifndef STRATA_HAS_HOPPER

template <Value V>
bool has_hopper_sweep(int, WindowPlacement, bool) {
  return false;
}

#else

// A build has both kernels, for full and for encoded values, for the same devices.
template <Value V>
bool has_hopper_sweep(int slice_height, WindowPlacement placement, bool many_gathers) {
  bool has = false;
  with_hopper_sweep<DeviceValue<V>, false>(
      slice_height, placement, many_gathers, [&](const auto& kernel) {
        has = code_architecture("hopper_sweep_kernel", kernel) >= STRATA_HOPPER;
      });
  return has;
}

#endif

#define STRATA_INSTANTIATE(V, unused)                            \
  template bool has_hopper_sweep<V>(int, WindowPlacement, bool); \
  STRATA_INSTANTIATE_HOPPER_SWEEP(V, false)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
