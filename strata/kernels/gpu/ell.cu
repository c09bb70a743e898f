#include "strata/kernels/gpu/ell.hpp"

#include "strata/kernels/gpu/internal/step_launch.hpp"

namespace strata::gpu {

namespace {

template <class Loads, int vectors, class T>
__global__ void ell_kernel(EllView<T> matrix, StepArguments<T> step, RowRange<std::int32_t> rows) {
  NativeThread thread;
  ell_step<Loads, vectors, gathers_ahead(vectors)>(thread, matrix, step, rows);
}

template <class Loads, int vectors, class T>
__global__ void ell_groups_kernel(EllView<T> matrix, EllGroups groups, StepArguments<T> step,
                                  RowRange<std::int32_t> rows, T* partials) {
  NativeThread thread;
  ell_groups_step<Loads, vectors, gathers_ahead(vectors)>(thread, matrix, groups, step, rows,
                                                          partials);
}

template <class T>
__global__ void ell_partials_kernel(int blocks_per_row, StepArguments<T> step,
                                    RowRange<std::int32_t> rows, const T* partials) {
  NativeThread thread;
  ell_partials_step(thread, blocks_per_row, step, rows, partials);
}

template <Value V>
void step_by_rows(const DeviceEll<V>& matrix, const StepArguments<DeviceValue<V>>& arguments,
                  RowRange<std::int32_t> rows, Stream& stream, Reuse reuse) {
  const LaunchShape shape{.blocks = ceil_div<Offset>(Offset{rows.end} - rows.begin, kThreads),
                          .threads = kThreads};
  with_vectors(arguments.count, [&](auto count) {
    with_loads<count()>(reuse, [&](auto loads) {
      launch("ell_kernel", ell_kernel<decltype(loads), count(), DeviceValue<V>>, shape, stream,
             matrix.view(), arguments, rows);
    });
  });
}

template <Value V>
void step_by_groups(const DeviceEll<V>& matrix, const StepArguments<DeviceValue<V>>& arguments,
                    ScratchSpan<V> scratch, RowRange<std::int32_t> rows, Stream& stream,
                    Reuse reuse) {
  using T = DeviceValue<V>;
  const EllGroups groups = matrix.groups();
  T* partials = reinterpret_cast<T*>(scratch.data());
  const Offset tiles = ceil_div<Offset>(Offset{rows.end} - rows.begin, kEllBlock / groups.groups);
  const LaunchShape shape{.blocks = tiles * groups.blocks_per_row,
                          .threads = kEllBlock,
                          .shared_bytes = Offset{sizeof(T)} * kEllBlock};
  with_vectors(arguments.count, [&](auto count) {
    with_loads<count()>(reuse, [&](auto loads) {
      launch("ell_groups_kernel", ell_groups_kernel<decltype(loads), count(), T>, shape, stream,
             matrix.view(), groups, arguments, rows, partials);
    });
  });
  if (groups.blocks_per_row == 1) return;
  const Offset elements = (Offset{rows.end} - rows.begin) * arguments.count;
  launch("ell_partials_kernel", ell_partials_kernel<T>,
         LaunchShape{.blocks = ceil_div<Offset>(elements, kThreads), .threads = kThreads}, stream,
         groups.blocks_per_row, arguments, rows, partials);
}

}  // namespace

template <Value V>
void step(const DeviceEll<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse) {
  const auto arguments = step_arguments(matrix.shape(), 1, coefficients, vectors, rows);
  if (matrix.groups() == EllGroups{}) {
    step_by_rows(matrix, arguments, rows, stream, reuse);
  } else {
    require_scratch(vectors.scratch.size(), matrix.scratch_elements(vectors.count));
    step_by_groups<V>(matrix, arguments, vectors.scratch, rows, stream, reuse);
  }
}

#define STRATA_INSTANTIATE(V, unused)                                        \
  template void step(const DeviceEll<V>&, const Given<StepCoefficients<V>>&, \
                     const Given<DeviceVectors<V>>&, RowRange<std::int32_t>, Stream&, Reuse)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
