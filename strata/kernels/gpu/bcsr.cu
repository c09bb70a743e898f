#include "strata/kernels/gpu/bcsr.hpp"

#include "strata/kernels/gpu/device_bcsr.hpp"
#include "strata/kernels/gpu/internal/step_launch.hpp"

namespace strata::gpu {

namespace {

template <class Loads, int block_cols, int vectors, class T>
__global__ void bcsr_kernel(BcsrView<T> matrix, int threads, StepArguments<T> step,
                            RowRange<std::int32_t> rows) {
  NativeThread thread;
  bcsr_step<Loads, block_cols, vectors>(thread, matrix, threads, step, rows);
}

// Calls body(std::integral_constant<int, c>) with the columns of a block if there is a kernel for
// them, else with 0. With several vectors that would be many kernels for what their loop is not
// bound by.
template <int vectors, class Body>
void with_block_cols(std::int32_t block_cols, Body&& body) {
  if constexpr (vectors == 1) {
    switch (block_cols) {
      case 1: return body(std::integral_constant<int, 1>());
      case 2: return body(std::integral_constant<int, 2>());
      case 3: return body(std::integral_constant<int, 3>());
      case 4: return body(std::integral_constant<int, 4>());
      case 6: return body(std::integral_constant<int, 6>());
      case 8: return body(std::integral_constant<int, 8>());
      default: break;
    }
  }
  body(std::integral_constant<int, 0>());
}

}  // namespace

template <Value V>
void step(const DeviceBcsr<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse) {
  const auto arguments = step_arguments(matrix.shape(), 1, coefficients, vectors, rows);
  const Offset threads = (Offset{rows.end} - rows.begin) * matrix.threads_per_row();
  const LaunchShape shape =
      shape_for(ceil_div<Offset>(threads, matrix.shape().warp), matrix.shape());
  with_vectors(vectors.count, [&](auto count) {
    with_block_cols<count()>(matrix.block_cols(), [&](auto block_cols) {
      with_loads<count()>(reuse, [&](auto loads) {
        launch("bcsr_kernel", bcsr_kernel<decltype(loads), block_cols(), count(), DeviceValue<V>>,
               shape, stream, matrix.view(), matrix.threads_per_row(), arguments, rows);
      });
    });
  });
}

#define STRATA_INSTANTIATE(V, unused)                                         \
  template void step(const DeviceBcsr<V>&, const Given<StepCoefficients<V>>&, \
                     const Given<DeviceVectors<V>>&, RowRange<std::int32_t>, Stream&, Reuse)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
