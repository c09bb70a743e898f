#include "strata/kernels/gpu/sell.hpp"

#include "strata/kernels/gpu/internal/step_launch.hpp"

namespace strata::gpu {

namespace {

template <class Loads, int height, int vectors, class T>
__global__ void sell_kernel(SellView<T> matrix, StepArguments<T> step, SliceRange range) {
  NativeThread thread;
  // One program serves devices with warps of 32 and of 64.
  if constexpr (height <= NativeThread::warp_size) {
    sell_step<Loads, height, vectors, gathers_ahead(vectors)>(thread, matrix, step, range);
  } else {
    thread.trap();
  }
}

template <class Loads, int vectors, class T>
__global__ void low_sell_kernel(SellView<T> matrix, int height, int threads, StepArguments<T> step,
                                SliceRange range) {
  NativeThread thread;
  low_sell_step<Loads, vectors, gathers_ahead(vectors)>(thread, matrix, height, threads, step,
                                                        range);
}

template <Value V>
void step_low_slices(const DeviceSell<V>& matrix, const StepArguments<DeviceValue<V>>& arguments,
                     SliceRange range, Stream& stream, Reuse reuse) {
  const Offset threads =
      (Offset{range.end} - range.begin) * matrix.slice_height() * matrix.threads_per_row();
  const LaunchShape shape =
      shape_for(ceil_div<Offset>(threads, matrix.shape().warp), matrix.shape());
  with_vectors(arguments.count, [&](auto count) {
    with_loads<count()>(reuse, [&](auto loads) {
      launch("low_sell_kernel", low_sell_kernel<decltype(loads), count(), DeviceValue<V>>, shape,
             stream, matrix.view(), matrix.slice_height(), matrix.threads_per_row(), arguments,
             range);
    });
  });
}

}  // namespace

template <Value V>
void step(const DeviceSell<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse) {
  const auto arguments =
      step_arguments(matrix.shape(), matrix.row_alignment(), coefficients, vectors, rows);
  const SliceRange range = slices_of(rows, matrix.slice_height());
  if (matrix.slice_height() < kLowestWholeWarpSlice) {
    return step_low_slices(matrix, arguments, range, stream, reuse);
  }
  const LaunchShape shape = shape_for(range.end - range.begin, matrix.shape());
  with_vectors(vectors.count, [&](auto count) {
    with_power_of_two<kLowestWholeWarpSlice, kLargestWarp>(matrix.slice_height(), [&](auto height) {
      with_loads<count()>(reuse, [&](auto loads) {
        launch("sell_kernel", sell_kernel<decltype(loads), height(), count(), DeviceValue<V>>,
               shape, stream, matrix.view(), arguments, range);
      });
    });
  });
}

#define STRATA_INSTANTIATE(V, unused)                                         \
  template void step(const DeviceSell<V>&, const Given<StepCoefficients<V>>&, \
                     const Given<DeviceVectors<V>>&, RowRange<std::int32_t>, Stream&, Reuse)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
