#include "strata/execute/gpu/portable_sweep.hpp"

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/execute/gpu/internal/sweep_launch.hpp"
#include "strata/kernels/gpu/dispatch.hpp"

namespace strata::gpu::detail {

namespace {

template <int height, int vectors, class T>
__global__ void __launch_bounds__(kSweepThreads)
    sweep_kernel(const SweepArguments<T> arguments, int lag) {
  NativeThread thread;
  sweep<height, vectors, gathers_ahead(vectors)>(thread, arguments, lag);
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

template <Value V>
void launch_sweep(const SweepArguments<DeviceValue<V>>& arguments, int slice_height, int workers,
                  int lag, Stream& stream) {
  with_kernel(slice_height, arguments.count, [&](auto height, auto count) {
    launch_cooperative("sweep_kernel", sweep_kernel<height(), count(), DeviceValue<V>>,
                       {workers, kSweepThreads, 0}, stream, arguments, lag);
  });
}

template <Value V>
int resident_sweep_blocks(int slice_height, int vectors) {
  int blocks = 0;
  with_kernel(slice_height, vectors, [&](auto height, auto count) {
    blocks = resident_blocks("sweep_kernel", sweep_kernel<height(), count(), DeviceValue<V>>,
                             kSweepThreads);
  });
  return blocks;
}

#define STRATA_INSTANTIATE(V, unused)                                                           \
  template void launch_sweep<V>(const SweepArguments<DeviceValue<V>>&, int, int, int, Stream&); \
  template int resident_sweep_blocks<V>(int, int)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
