#include "strata/kernels/gpu/packed_sell.hpp"

#include <algorithm>

#include "strata/kernels/gpu/internal/encoded_step.hpp"
#include "strata/kernels/gpu/internal/step_launch.hpp"

namespace strata::gpu {

namespace {

// With one vector of up to 8 bytes per element, 64 registers are enough for half of the warps that
// a multiprocessor can have; the compiler would take more.
template <int vectors, class T>
constexpr int blocks_wanted() {
  return vectors == 1 && sizeof(T) <= 8 ? 8 : 1;
}

template <class Loads, class Run, int height, int vectors, class T>
__global__ void __launch_bounds__(kThreads, (blocks_wanted<vectors, T>()))
    packed_sell_kernel(PackedSellView<T> matrix, StepArguments<T> step, SliceRange range) {
  NativeThread thread;
  packed_sell_step<Loads, Run, height, vectors, gathers_ahead(vectors)>(thread, matrix, step,
                                                                        range);
}

// For one vector and rows so short that a thread loads all of its x at once. Warps then stay for
// many slices, with more loads in flight than the gathers of one (7-point stencil on an H200: 743
// GF/s become 798).
constexpr int kStayingThreads = 256;
constexpr int kStayingBlocks = 4;  // per multiprocessor

template <class Loads, int height, class T>
__global__ void __launch_bounds__(kStayingThreads, kStayingBlocks)
    packed_sell_short_kernel(PackedSellView<T> matrix, StepArguments<T> step, SliceRange range) {
  NativeThread thread;
  packed_sell_step<Early<Loads>, NoRuns, height, 1, kShortRow>(thread, matrix, step, range);
}

}  // namespace

template <Value V>
void step(const DevicePackedSell<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse) {
  const auto arguments =
      step_arguments(matrix.shape(), matrix.row_alignment(), coefficients, vectors, rows);
  const SliceRange range = slices_of(rows, matrix.slice_height());
  if (!matrix.has_full_values()) return encoded_step(matrix, arguments, range, stream);
  const bool runs = matrix.view().run.length > 1;
  if (vectors.count == 1 && has_short_rows(matrix) && !runs) {
    const Offset warps = range.end - range.begin;
    const LaunchShape shape{
        std::min<Offset>(ceil_div<Offset>(warps, kStayingThreads / matrix.shape().warp),
                         Offset{kStayingBlocks} * matrix.shape().multiprocessors),
        kStayingThreads};
    with_power_of_two<4, 32>(matrix.slice_height(), [&](auto height) {
      with_loads<1>(reuse, [&](auto loads) {
        launch("packed_sell_short_kernel",
               packed_sell_short_kernel<decltype(loads), height(), DeviceValue<V>>, shape, stream,
               matrix.view(), arguments, range);
      });
    });
    return;
  }
  const LaunchShape shape = shape_for(range.end - range.begin, matrix.shape());
  with_vectors(vectors.count, [&](auto count) {
    with_power_of_two<4, 32>(matrix.slice_height(), [&](auto height) {
      const auto run = [&]<class Loads, class Run>(Loads, Run) {
        launch("packed_sell_kernel",
               packed_sell_kernel<Loads, Run, height(), count(), DeviceValue<V>>, shape, stream,
               matrix.view(), arguments, range);
      };
      if (runs) {
        run(FromMemory(), RunLength());
      } else {
        with_loads<count()>(reuse, [&](auto loads) { run(loads, NoRuns()); });
      }
    });
  });
}

#define STRATA_INSTANTIATE(V, unused)                                               \
  template void step(const DevicePackedSell<V>&, const Given<StepCoefficients<V>>&, \
                     const Given<DeviceVectors<V>>&, RowRange<std::int32_t>, Stream&, Reuse)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
