#include "strata/kernels/gpu/reorder.hpp"

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/kernels/gpu/internal/reorder_launch.hpp"
#include "strata/kernels/gpu/value.hpp"

namespace strata::gpu {

namespace {

constexpr int kReorderThreads = 256;

template <class From, class To>
__global__ void reorder_kernel(ReorderArguments<From, To> arguments) {
  NativeThread thread;
  reorder(thread, arguments);
}

template <class From, class To>
void launch_between(const From& from, const To& to, const detail::LineSources& sources, int count,
                    Stream& stream) {
  const ReorderArguments<From, To> arguments{
      from, to, sources.source, narrow<std::int32_t>(sources.lines, "the rows of vectors on a GPU"),
      count};
  const LaunchShape shape{.blocks = ceil_div<Offset>(sources.lines, kReorderThreads),
                          .threads = kReorderThreads};
  launch("reorder_kernel", reorder_kernel<From, To>, shape, stream, arguments);
}

// Lines as kernels see them.
template <Value V>
InterleavedLines<const DeviceValue<V>> device_lines(const V* data, int count) {
  return {reinterpret_cast<const DeviceValue<V>*>(data), count};
}
template <Value V>
InterleavedLines<DeviceValue<V>> device_lines(V* data, int count) {
  return {reinterpret_cast<DeviceValue<V>*>(data), count};
}

}  // namespace

template <Value V>
void detail::launch_reorder(const V* from, V* to, const LineSources& sources, int count,
                            Stream& stream) {
  launch_between(device_lines(from, count), device_lines(to, count), sources, count, stream);
}

template <Value V>
void detail::launch_reorder(const StridedLines<const V>& from, V* to, const LineSources& sources,
                            int count, Stream& stream) {
  const StridedLines<const DeviceValue<V>> lines{reinterpret_cast<const DeviceValue<V>*>(from.data),
                                                 from.line_stride, from.element_stride};
  launch_between(lines, device_lines(to, count), sources, count, stream);
}

template <Value V>
void detail::launch_reorder(const V* from, const StridedLines<V>& to, const LineSources& sources,
                            int count, Stream& stream) {
  const StridedLines<DeviceValue<V>> lines{reinterpret_cast<DeviceValue<V>*>(to.data),
                                           to.line_stride, to.element_stride};
  launch_between(device_lines(from, count), lines, sources, count, stream);
}

#define STRATA_INSTANTIATE(V, unused)                                                           \
  template void detail::launch_reorder<V>(const V*, V*, const LineSources&, int, Stream&);      \
  template void detail::launch_reorder<V>(const StridedLines<const V>&, V*, const LineSources&, \
                                          int, Stream&);                                        \
  template void detail::launch_reorder<V>(const V*, const StridedLines<V>&, const LineSources&, \
                                          int, Stream&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
