// The kernels of wavefront sweeps by their parameters, for persistent_sweep.cpp.
#pragma once

#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#include "strata/execute/gpu/ring.hpp"
#include "strata/execute/gpu/sweep_arguments.hpp"

namespace strata::gpu::detail {

// The slice heights and numbers of threads that the kernels are made for.
inline constexpr int kSweepThreads = 256;
// The blocks of a multiprocessor, at most.
inline constexpr int kSweepBlocks = 4;
constexpr bool is_sweep_height(Offset slice_height) {
  return slice_height == 8 || slice_height == 16 || slice_height == 32;
}

// encoded: for tiles whose values are not all stored in full.
template <Value V, bool encoded>
void launch_sweep(const SweepArguments<DeviceValue<V>>& arguments, int slice_height, int workers,
                  int lag, Stream& stream);
// How many blocks of it are resident at once, on all multiprocessors.
template <Value V, bool encoded>
int resident_sweep_blocks(int slice_height, int vectors);

// Whether this build has code of the kernel for Hopper GPUs that the current device can run.
template <Value V>
bool has_hopper_sweep(int slice_height, WindowPlacement placement, bool many_gathers);
// The most warps of a block.
constexpr int most_hopper_warps(bool many_gathers) {
  return many_gathers ? 20 : 32;
}
template <Value V, bool encoded>
void launch_hopper_sweep(const SweepArguments<DeviceValue<V>>& arguments, int slice_height,
                         int workers, WindowPlacement placement, bool many_gathers,
                         const hopper::Ring& ring, Stream& stream);

}  // namespace strata::gpu::detail
