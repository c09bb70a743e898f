// The kernels behind flagged_launch.hpp. For its .cu files.
#pragma once

#include "strata/base/error.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/execute/gpu/internal/flagged_launch.hpp"
#if !defined(STRATA_GPU_HIP) && !defined(STRATA_GPU_EMULATED)
#define STRATA_HAS_FLAGGED
#include "strata/execute/gpu/internal/flagged_block.hpp"
#endif

namespace strata::gpu::detail {

#ifndef STRATA_HAS_FLAGGED

template <Value V>
bool has_flagged_sweep() {
  return false;
}
template <Value V>
void launch_flagged_sweep(const FlaggedArguments<DeviceValue<V>>&, const FlaggedForm&, int,
                          const FlaggedRing&, Stream&) {
  throw Unavailable("this wavefront sweep needs a Hopper GPU");
}

#else

// The oldest architecture with the instructions of hopper.hpp, as code_architecture() says it.
inline constexpr int kFlaggedArchitecture = 90;

namespace {

template <class Lines, int D, class T>
__global__ void __launch_bounds__(kFlaggedWarps * 32, 1)
    flagged_sweep_kernel(const __grid_constant__ FlaggedArguments<T> arguments,
                         const __grid_constant__ FlaggedRing ring) {
#if __CUDA_ARCH__ >= 900
  hopper::FlaggedBlock<Lines, D, T>(arguments, ring).run();
#else
  NativeThread().trap();  // the launch was not preceded by a check of has_flagged_sweep()
#endif
}

// Calls body(kernel).
template <class T, class Body>
void with_flagged_sweep(const FlaggedForm& form, const Body& body) {
  if (form.block == 3) {
    body(flagged_sweep_kernel<NoLines, 3, T>);
  } else if (form.block == 2) {
    body(flagged_sweep_kernel<NoLines, 2, T>);
  } else if (form.lines == FlaggedLines::seven_points) {
    body(flagged_sweep_kernel<SevenPoints, 1, T>);
  } else if (form.lines == FlaggedLines::five_points) {
    body(flagged_sweep_kernel<FivePoints, 1, T>);
  } else if (form.has_lines) {
    body(flagged_sweep_kernel<NineLines, 1, T>);
  } else {
    body(flagged_sweep_kernel<NoLines, 1, T>);
  }
}

}  // namespace

template <Value V>
bool has_flagged_sweep() {
  bool has = false;
  with_flagged_sweep<DeviceValue<V>>({}, [&](const auto& kernel) {
    has = code_architecture("flagged_sweep_kernel", kernel) >= kFlaggedArchitecture;
  });
  return has;
}

template <Value V>
void launch_flagged_sweep(const FlaggedArguments<DeviceValue<V>>& arguments,
                          const FlaggedForm& form, int workers, const FlaggedRing& ring,
                          Stream& stream) {
  const LaunchShape shape{workers, ring.all_warps(arguments.power) * 32, ring.shared_bytes()};
  with_flagged_sweep<DeviceValue<V>>(form, [&](const auto& kernel) {
    launch_cooperative("flagged_sweep_kernel", kernel, shape, stream, arguments, ring);
  });
}

#endif

#define STRATA_INSTANTIATE_FLAGGED_SWEEP(V)                                      \
  template bool has_flagged_sweep<V>();                                          \
  template void launch_flagged_sweep<V>(const FlaggedArguments<DeviceValue<V>>&, \
                                        const FlaggedForm&, int, const FlaggedRing&, Stream&)

}  // namespace strata::gpu::detail
