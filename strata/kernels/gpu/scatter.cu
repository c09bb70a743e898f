#include "strata/kernels/gpu/scatter.hpp"

#include "strata/kernels/gpu/device_scatter.hpp"
#include "strata/kernels/gpu/internal/step_launch.hpp"

namespace strata::gpu {

namespace {

template <class Loads, bool kRows, int vectors, class T>
__global__ void scatter_kernel(ScatterView<T> matrix, StepArguments<T> step) {
  NativeThread thread;
  scatter_step<Loads, kRows, vectors>(thread, matrix, step);
}

template <class T>
__global__ void scatter_windows_kernel(ScatterView<T> matrix, StepArguments<T> step) {
  NativeThread thread;
  scatter_windows_step(thread, matrix, step);
}

template <bool kRows, Value V>
void launch_steps(const DeviceScatter<V>& matrix, const DeviceShape& shape,
                  const StepArguments<DeviceValue<V>>& arguments, ScratchSpan<V> scratch,
                  Stream& stream, Reuse reuse) {
  using T = DeviceValue<V>;
  require_scratch(scratch.size(), matrix.scratch_elements(arguments.count));
  const ScatterView<T> view = matrix.view(scratch.elements());
  with_vectors(arguments.count, [&](auto count) {
    with_loads<count()>(reuse, [&](auto loads) {
      launch("scatter_kernel", scatter_kernel<decltype(loads), kRows, count(), T>,
             shape_for(view.part_count, shape), stream, view, arguments);
    });
  });
  launch("scatter_windows_kernel", scatter_windows_kernel<T>,
         LaunchShape{.blocks = ceil_div<Offset>(view.outputs, kThreads), .threads = kThreads},
         stream, view, arguments);
}

}  // namespace

template <Value V>
void step(const DeviceSymmetricCsr<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse) {
  const auto arguments = step_arguments(matrix.shape(), 1, coefficients, vectors, rows);
  require_all_rows(matrix.shape(), rows, "symmetric CSR");
  launch_steps<true, V>(matrix.lower(), matrix.shape(), arguments, vectors.scratch, stream, reuse);
}

template <Value V>
void step(const DeviceTransposedCsr<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse) {
  const auto arguments = step_arguments(matrix.shape(), 1, coefficients, vectors, rows);
  require_all_rows(matrix.shape(), rows, "transposed CSR");
  if (matrix.transposed() != nullptr) {
    step(*matrix.transposed(), coefficients, vectors, rows, stream, reuse);
  } else if (matrix.scattered() != nullptr) {
    launch_steps<false, V>(*matrix.scattered(), matrix.shape(), arguments, vectors.scratch, stream,
                           reuse);
  }
}

#define STRATA_INSTANTIATE(V, unused)                                                         \
  template void step(const DeviceSymmetricCsr<V>&, const Given<StepCoefficients<V>>&,         \
                     const Given<DeviceVectors<V>>&, RowRange<std::int32_t>, Stream&, Reuse); \
  template void step(const DeviceTransposedCsr<V>&, const Given<StepCoefficients<V>>&,        \
                     const Given<DeviceVectors<V>>&, RowRange<std::int32_t>, Stream&, Reuse)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
