#include "strata/kernels/gpu/coo.hpp"

#include <algorithm>

#include "strata/kernels/gpu/device_coo.hpp"
#include "strata/kernels/gpu/internal/step_launch.hpp"

namespace strata::gpu {

namespace {

// Rows of more pieces than this have a warp each in the second pass, others a thread.
constexpr std::int32_t kFewPieces = 16;

template <class Loads, class Rows, int vectors, class T>
__global__ void coo_kernel(CooView<T> matrix, StepArguments<T> step) {
  NativeThread thread;
  coo_step<Loads, Rows, vectors>(thread, matrix, step);
}

template <class Rows, class T>
__global__ void coo_short_cut_rows_kernel(CooView<T> matrix, StepArguments<T> step) {
  NativeThread thread;
  coo_cut_rows_step<Rows, 1>(thread, matrix, step);
}

template <class Rows, class T>
__global__ void coo_long_cut_rows_kernel(CooView<T> matrix, StepArguments<T> step) {
  NativeThread thread;
  coo_cut_rows_step<Rows, NativeThread::warp_size>(thread, matrix, step);
}

template <class Rows, class T>
void launch_steps(const CooView<T>& view, const CooSplit& split, const DeviceShape& matrix,
                  const StepArguments<T>& arguments, Stream& stream, Reuse reuse) {
  // A warp per chunk, and threads for the rows without entries.
  const Offset empty = Rows::kEmptyRows ? std::ssize(split.empty_rows) : 0;
  const LaunchShape shape =
      shape_for(std::max<Offset>(split.chunks, ceil_div<Offset>(empty, matrix.warp)), matrix);
  with_vectors(arguments.count, [&](auto count) {
    with_loads<count()>(reuse, [&](auto loads) {
      launch("coo_kernel", coo_kernel<decltype(loads), Rows, count(), T>, shape, stream, view,
             arguments);
    });
  });
  if (view.counters != nullptr) return;
  const bool few = split.most_pieces <= kFewPieces;
  const Offset threads = std::ssize(split.cut_rows) * (few ? 1 : matrix.warp);
  launch("coo_cut_rows_kernel",
         few ? coo_short_cut_rows_kernel<Rows, T> : coo_long_cut_rows_kernel<Rows, T>,
         shape_for(ceil_div<Offset>(threads, matrix.warp), matrix), stream, view, arguments);
}

}  // namespace

template <Value V>
void step(const DeviceCoo<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse) {
  const auto arguments = step_arguments(matrix.shape(), 1, coefficients, vectors, rows);
  require_all_rows(matrix.shape(), rows, "COO");
  require_scratch(vectors.scratch.size(), matrix.scratch_elements(vectors.count));
  launch_steps<WritesRows>(matrix.view(vectors.scratch), matrix.split(), matrix.shape(), arguments,
                           stream, reuse);
}

template <Value V>
void add_product(const DeviceCoo<V>& matrix, Given<V> alpha, const Given<DeviceVectors<V>>& vectors,
                 Stream& stream, Reuse reuse) {
  const auto arguments =
      step_arguments<V>(matrix.shape(), 1, {.alpha = alpha}, vectors, matrix.all_rows());
  require_scratch(vectors.scratch.size(), matrix.scratch_elements(vectors.count));
  launch_steps<AddsToRows>(matrix.view(vectors.scratch), matrix.split(), matrix.shape(), arguments,
                           stream, reuse);
}

#define STRATA_INSTANTIATE(V, unused)                                                         \
  template void step(const DeviceCoo<V>&, const Given<StepCoefficients<V>>&,                  \
                     const Given<DeviceVectors<V>>&, RowRange<std::int32_t>, Stream&, Reuse); \
  template void add_product(const DeviceCoo<V>&, Given<V>, const Given<DeviceVectors<V>>&,    \
                            Stream&, Reuse)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
