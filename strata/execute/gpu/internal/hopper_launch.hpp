// How the wavefront sweep for Hopper GPUs is launched. For its .cu files, one for full and one for
// encoded values, which are compiled at the same time.
#pragma once

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/execute/gpu/internal/sweep_launch.hpp"
#include "strata/kernels/gpu/dispatch.hpp"
#if !defined(STRATA_GPU_HIP) && !defined(STRATA_GPU_EMULATED)
#define STRATA_HAS_HOPPER
#include "strata/execute/gpu/internal/hopper_sweep.hpp"
#endif

namespace strata::gpu::detail {

#ifndef STRATA_HAS_HOPPER

template <Value V, bool encoded>
void launch_hopper_sweep(const SweepArguments<DeviceValue<V>>&, int, int, WindowPlacement, bool,
                         const hopper::Ring&, Stream&) {
  throw Unavailable("this wavefront sweep needs a Hopper GPU");
}

#else

// The oldest architecture with the instructions of hopper.hpp, as code_architecture() says it.
#define STRATA_HOPPER 90

namespace {

// How many elements of x a thread has in flight. Rows of 7, 27 and 81 entries are common: the last
// are shared by several threads. 27 doubles take 54 of the 96 registers that 640 threads leave each
// other, 9 with as many values from the L2 cache 36 of the 64 that 1024 leave.
template <class T>
constexpr int gathers_of(WindowPlacement placement, int height, bool many) {
  const int doubles = many ? (height == 32 ? 27 : 21) : placement == WindowPlacement::l2 ? 9 : 7;
  return doubles * 8 / (sizeof(T) > 8 ? static_cast<int>(sizeof(T)) : 8);
}

template <bool encoded, WindowPlacement placement, int height, bool many, class T>
__global__ void __launch_bounds__(most_hopper_warps(many) * 32, 1)
    hopper_sweep_kernel(const __grid_constant__ SweepArguments<T> arguments,
                        const __grid_constant__ hopper::Ring ring) {
  // Code for older GPUs has none of the instructions. The launch was not preceded by a check of
  // has_hopper_sweep().
#if __CUDA_ARCH__ >= STRATA_HOPPER * 10
  hopper::SweepBlock<encoded, placement, height, gathers_of<T>(placement, height, many), T>(
      arguments, ring)
      .run();
#else
  NativeThread().trap();
#endif
}

// Calls body(kernel). Throws InvalidArgument if there is none for slices of that height.
template <class T, bool encoded, class Body>
void with_hopper_sweep(int slice_height, WindowPlacement placement, bool many_gathers,
                       const Body& body) {
  const bool known = with_power_of_two<8, 32>(slice_height, [&](auto height) {
    if (placement == WindowPlacement::l2) {
      body(hopper_sweep_kernel<encoded, WindowPlacement::l2, height(), false, T>);
    } else if (many_gathers) {
      body(hopper_sweep_kernel<encoded, WindowPlacement::shared_memory, height(), true, T>);
    } else {
      body(hopper_sweep_kernel<encoded, WindowPlacement::shared_memory, height(), false, T>);
    }
  });
  if (!known) throw InvalidArgument("wavefront sweeps run over slices of 8, 16 or 32 rows");
}

}  // namespace

template <Value V, bool encoded>
void launch_hopper_sweep(const SweepArguments<DeviceValue<V>>& arguments, int slice_height,
                         int workers, WindowPlacement placement, bool many_gathers,
                         const hopper::Ring& ring, Stream& stream) {
  using T = DeviceValue<V>;
  const LaunchShape shape{workers, ring.warps(arguments.power) * 32,
                          ring.shared_bytes(arguments.power, arguments.mailboxes)};
  with_hopper_sweep<T, encoded>(slice_height, placement, many_gathers, [&](const auto& kernel) {
    launch_cooperative("hopper_sweep_kernel", kernel, shape, stream, arguments, ring);
  });
}

#endif

#define STRATA_INSTANTIATE_HOPPER_SWEEP(V, encoded)                                              \
  template void launch_hopper_sweep<V, encoded>(const SweepArguments<DeviceValue<V>>&, int, int, \
                                                WindowPlacement, bool, const hopper::Ring&,      \
                                                Stream&)

}  // namespace strata::gpu::detail
