// How the portable wavefront sweep is launched. For its .cu files, one for full and one for encoded
// values, which are compiled at the same time.
#pragma once

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/execute/gpu/internal/sweep_launch.hpp"
#include "strata/execute/gpu/portable_sweep.hpp"
#include "strata/kernels/gpu/dispatch.hpp"

namespace strata::gpu::detail {

namespace {

// Shapes are chosen for both kinds of values: as many blocks of a kernel that decodes values have
// to be resident as of the other, which takes fewer registers by itself.
template <bool encoded, int vectors, class T>
constexpr int blocks_required() {
  if (!encoded) return 0;
  return vectors * sizeof(T) > 64 ? kSweepBlocks / 2 : kSweepBlocks;
}

template <bool encoded, int height, int vectors, class T>
__global__ void __launch_bounds__(kSweepThreads, (blocks_required<encoded, vectors, T>()))
    sweep_kernel(const SweepArguments<T> arguments, int lag) {
  NativeThread thread;
  sweep<encoded, height, vectors, gathers_ahead(vectors)>(thread, arguments, lag);
}

template <class Body>
void with_kernel(int slice_height, int vectors, const Body& body) {
  with_vectors(vectors, [&](auto count) {
    if (!with_power_of_two<8, 32>(slice_height, [&](auto height) { body(height, count); })) {
      throw InvalidArgument("wavefront sweeps run over slices of 8, 16 or 32 rows");
    }
  });
}

}  // namespace

template <Value V, bool encoded>
void launch_sweep(const SweepArguments<DeviceValue<V>>& arguments, int slice_height, int workers,
                  int lag, Stream& stream) {
  with_kernel(slice_height, arguments.count, [&](auto height, auto count) {
    launch_cooperative("sweep_kernel", sweep_kernel<encoded, height(), count(), DeviceValue<V>>,
                       {workers, kSweepThreads, near_table_bytes(arguments.table_size, sizeof(V))},
                       stream, arguments, lag);
  });
}

template <Value V, bool encoded>
int resident_sweep_blocks(int slice_height, int vectors) {
  int blocks = 0;
  with_kernel(slice_height, vectors, [&](auto height, auto count) {
    blocks =
        resident_blocks("sweep_kernel", sweep_kernel<encoded, height(), count(), DeviceValue<V>>,
                        kSweepThreads, encoded ? near_table_bytes(kNearTable, sizeof(V)) : 0);
  });
  return blocks;
}

#define STRATA_INSTANTIATE_SWEEP(V, encoded)                                                   \
  template void launch_sweep<V, encoded>(const SweepArguments<DeviceValue<V>>&, int, int, int, \
                                         Stream&);                                             \
  template int resident_sweep_blocks<V, encoded>(int, int)

}  // namespace strata::gpu::detail
