#include "strata/kernels/gpu/csr.hpp"

#include "strata/kernels/gpu/csr_parts.hpp"
#include "strata/kernels/gpu/csr_reguly.hpp"
#include "strata/kernels/gpu/csr_stream.hpp"
#include "strata/kernels/gpu/internal/step_launch.hpp"

namespace strata::gpu {

namespace {

template <class Loads, int threads, int vectors, class T>
__global__ void csr_kernel(CsrView<T> matrix, StepArguments<T> step, RowRange<std::int32_t> rows) {
  NativeThread thread;
  // One program serves devices with warps of 32 and of 64.
  if constexpr (threads <= NativeThread::warp_size) {
    csr_step<Loads, threads, vectors, gathers_ahead(vectors)>(thread, matrix, step, rows);
  } else {
    thread.trap();
  }
}

template <class Loads, int vectors, class T>
__global__ void csr_parts_kernel(CsrPartsView<T> matrix, StepArguments<T> step, PartRange parts,
                                 RowRange<std::int32_t> rows) {
  NativeThread thread;
  csr_parts_step<Loads, vectors, gathers_ahead(vectors)>(thread, matrix, step, parts, rows);
}

template <class Shape, class Loads, bool pieces, class T>
__global__ void __launch_bounds__(Shape::threads, (stream_blocks<Shape, T>()))
    csr_stream_kernel(CsrStreamView<T> matrix, StepArguments<T> step, PartRange parts,
                      RowRange<std::int32_t> rows) {
  NativeThread thread;
  csr_stream_step<Shape, Loads, pieces>(thread, matrix, step, parts, rows);
}

template <int coop, class T>
__global__ void __launch_bounds__(most_reguly_threads(coop, sizeof(T)))
    csr_reguly_kernel(CsrView<T> matrix, StepArguments<T> step, RowRange<std::int32_t> rows,
                      int repeat) {
  NativeThread thread;
  csr_reguly_step<FromMemory, coop>(thread, matrix, step, rows, repeat);
}

template <class T>
__global__ void csr_long_rows_kernel(CsrPartsView<T> matrix, StepArguments<T> step,
                                     PartRange long_rows) {
  NativeThread thread;
  csr_long_rows_step(thread, matrix, step, long_rows);
}

template <Value V>
void step_by_rows(const DeviceCsr<V>& matrix, const StepArguments<DeviceValue<V>>& arguments,
                  RowRange<std::int32_t> rows, Stream& stream, Reuse reuse) {
  const Offset threads = (Offset{rows.end} - rows.begin) * matrix.threads_per_row();
  const LaunchShape shape =
      shape_for(ceil_div<Offset>(threads, matrix.shape().warp), matrix.shape());
  with_vectors(arguments.count, [&](auto count) {
    with_power_of_two<1, kLargestWarp>(matrix.threads_per_row(), [&](auto per_row) {
      with_loads<count()>(reuse, [&](auto loads) {
        launch("csr_kernel", csr_kernel<decltype(loads), per_row(), count(), DeviceValue<V>>, shape,
               stream, matrix.view(), arguments, rows);
      });
    });
  });
}

// Calls body(StreamConstants) with the kernels' shape that equals this one.
template <std::size_t number = 0, class Body>
void with_stream_shape(const StreamShape& shape, Body&& body) {
  constexpr StreamShape some = kStreamShapes[number];
  if (shape == some) return body(StreamConstants<some.threads, some.entries_per_thread>());
  if constexpr (number + 1 < kStreamShapes.size()) with_stream_shape<number + 1>(shape, body);
}

// Where they have not been ended already.
template <Value V>
void end_long_rows(const DeviceCsr<V>& matrix, const CsrPartsView<DeviceValue<V>>& view,
                   const StepArguments<DeviceValue<V>>& arguments, RowRange<std::int32_t> rows,
                   Stream& stream) {
  if (view.counters != nullptr) return;
  const PartRange long_rows = matrix.split().long_rows_of(rows);
  launch("csr_long_rows_kernel", csr_long_rows_kernel<DeviceValue<V>>,
         shape_for(long_rows.end - long_rows.begin, matrix.shape()), stream, view, arguments,
         long_rows);
}

template <Value V>
void step_by_stream(const DeviceCsr<V>& matrix, const StepArguments<DeviceValue<V>>& arguments,
                    ScratchSpan<V> scratch, RowRange<std::int32_t> rows, Stream& stream,
                    Reuse reuse) {
  using T = DeviceValue<V>;
  const CsrStreamView<T> view = matrix.stream_view(scratch);
  const PartRange parts = matrix.split().parts_of(rows);
  with_stream_shape(matrix.stream_shape(), [&](auto constants) {
    using Shape = decltype(constants);
    const LaunchShape shape{.blocks = parts.end - parts.begin,
                            .threads = Shape::threads,
                            .shared_bytes = stream_shared_bytes<T>(Shape::entries)};
    with_loads<1>(reuse, [&](auto loads) {
      const auto kernel = view.split.counters != nullptr
                              ? csr_stream_kernel<Shape, decltype(loads), true, T>
                              : csr_stream_kernel<Shape, decltype(loads), false, T>;
      launch("csr_stream_kernel", kernel, shape, stream, view, arguments, parts, rows);
    });
  });
  end_long_rows(matrix, view.split, arguments, rows, stream);
}

template <Value V>
void step_by_reguly(const DeviceCsr<V>& matrix, const StepArguments<DeviceValue<V>>& arguments,
                    RowRange<std::int32_t> rows, Stream& stream) {
  const RegulyParameters parameters = matrix.reguly();
  const LaunchShape shape{.blocks = reguly_blocks(Offset{rows.end} - rows.begin, parameters),
                          .threads = parameters.block_size};
  with_power_of_two<1, kMostCoop>(parameters.coop, [&](auto coop) {
    launch("csr_reguly_kernel", csr_reguly_kernel<coop(), DeviceValue<V>>, shape, stream,
           matrix.view(), arguments, rows, parameters.repeat);
  });
}

template <Value V>
void step_by_parts(const DeviceCsr<V>& matrix, const StepArguments<DeviceValue<V>>& arguments,
                   ScratchSpan<V> scratch, RowRange<std::int32_t> rows, Stream& stream,
                   Reuse reuse) {
  using T = DeviceValue<V>;
  const CsrPartsView<T> view = matrix.parts_view(scratch);
  const PartRange parts = matrix.split().parts_of(rows);
  LaunchShape shape = shape_for(parts.end - parts.begin, matrix.shape());
  shape.shared_bytes = Offset{sizeof(T)} * kEntriesPerThread * kThreads;
  with_vectors(arguments.count, [&](auto count) {
    with_loads<count()>(reuse, [&](auto loads) {
      launch("csr_parts_kernel", csr_parts_kernel<decltype(loads), count(), T>, shape, stream, view,
             arguments, parts, rows);
    });
  });
  end_long_rows(matrix, view, arguments, rows, stream);
}

}  // namespace

template <Value V>
void step(const DeviceCsr<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse) {
  const auto arguments = step_arguments(matrix.shape(), 1, coefficients, vectors, rows);
  require_scratch(vectors.scratch.size(), matrix.scratch_elements(vectors.count));
  switch (matrix.kernel()) {
    case CsrKernel::balanced:
      return step_by_parts<V>(matrix, arguments, vectors.scratch, rows, stream, reuse);
    case CsrKernel::stream:
      return step_by_stream<V>(matrix, arguments, vectors.scratch, rows, stream, reuse);
    case CsrKernel::reguly: return step_by_reguly(matrix, arguments, rows, stream);
    default: return step_by_rows(matrix, arguments, rows, stream, reuse);
  }
}

#define STRATA_INSTANTIATE(V, unused)                                        \
  template void step(const DeviceCsr<V>&, const Given<StepCoefficients<V>>&, \
                     const Given<DeviceVectors<V>>&, RowRange<std::int32_t>, Stream&, Reuse)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
