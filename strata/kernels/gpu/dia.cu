#include "strata/kernels/gpu/dia.hpp"

#include "strata/kernels/gpu/device_dia.hpp"
#include "strata/kernels/gpu/internal/step_launch.hpp"

namespace strata::gpu {

namespace {

template <class Loads, int vectors, class T>
__global__ void dia_kernel(DiaView<T> matrix, StepArguments<T> step, RowRange<std::int32_t> rows) {
  NativeThread thread;
  dia_step<Loads, vectors, gathers_ahead(vectors)>(thread, matrix, step, rows);
}

}  // namespace

template <Value V>
void step(const DeviceDia<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse) {
  const auto arguments = step_arguments(matrix.shape(), 1, coefficients, vectors, rows);
  const LaunchShape shape{.blocks = ceil_div<Offset>(Offset{rows.end} - rows.begin, kThreads),
                          .threads = kThreads,
                          .shared_bytes = Offset{sizeof(std::int32_t)} * kThreads};
  with_vectors(vectors.count, [&](auto count) {
    with_loads<count()>(reuse, [&](auto loads) {
      launch("dia_kernel", dia_kernel<decltype(loads), count(), DeviceValue<V>>, shape, stream,
             matrix.view(), arguments, rows);
    });
  });
}

#define STRATA_INSTANTIATE(V, unused)                                        \
  template void step(const DeviceDia<V>&, const Given<StepCoefficients<V>>&, \
                     const Given<DeviceVectors<V>>&, RowRange<std::int32_t>, Stream&, Reuse)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
