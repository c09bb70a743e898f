#include "strata/kernels/gpu/device_order.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/kernels/gpu/internal/reorder_launch.hpp"
#include "strata/kernels/gpu/step.hpp"

namespace strata::gpu {

namespace {

// value(i) for all i below `size`, on the device.
template <class ValueAt>
DeviceArray<std::int32_t> upload(Offset size, Stream& stream, const ValueAt& value) {
  Array<std::int32_t> values(static_cast<std::size_t>(size));
  parallel_for(size, [&](Offset i) { values[i] = static_cast<std::int32_t>(value(i)); });
  return to_device(std::span<const std::int32_t>(values), stream);
}

void require_count(int count) {
  if (count >= 1 && count <= kMaxVectors) return;
  throw InvalidArgument(fmt::format("kernels take 1 to {} vectors at a time", kMaxVectors));
}

void require_elements(Offset elements, Offset lines, int count) {
  require_count(count);
  if (elements != lines * count) {
    throw InvalidArgument(
        fmt::format("{} vectors of {} rows do not have {} elements", count, lines, elements));
  }
}

// Kernels load and store complex numbers at once.
template <class V>
void require_aligned(const V* data) {
  if (reinterpret_cast<std::uintptr_t>(data) % sizeof(V) == 0) return;
  throw InvalidArgument("vectors on a GPU have to be aligned to the size of their elements");
}

}  // namespace

template <Index I>
DeviceOrder::DeviceOrder(const PaddedOrder<I>& order, Stream& stream)
    : rows_(narrow<std::int32_t>(order.rows(), "the number of rows on a GPU")),
      padded_rows_(narrow<std::int32_t>(order.padded_rows(), "the number of padded rows on a GPU")),
      identity_(order.is_identity()) {
  if (identity_) return;
  row_at_ = upload(padded_rows_, stream, [&](Offset i) { return order.row_at(static_cast<I>(i)); });
  position_of_ =
      upload(rows_, stream, [&](Offset i) { return order.position_of(static_cast<I>(i)); });
}

template <Value V>
void DeviceOrder::gather(DeviceSpan<const std::type_identity_t<V>> of_rows, DeviceSpan<V> padded,
                         int count, Stream& stream) const {
  require_elements(of_rows.size(), rows_, count);
  require_elements(padded.size(), padded_rows_, count);
  if (identity_) return copy(of_rows, padded, stream);
  detail::launch_reorder<V>(of_rows.data(), padded.data(), {row_at_.data(), padded_rows_}, count,
                            stream);
}

template <Value V>
void DeviceOrder::scatter(DeviceSpan<const std::type_identity_t<V>> padded, DeviceSpan<V> of_rows,
                          int count, Stream& stream) const {
  require_elements(padded.size(), padded_rows_, count);
  require_elements(of_rows.size(), rows_, count);
  if (identity_) return copy(padded, of_rows, stream);
  detail::launch_reorder<V>(padded.data(), of_rows.data(), {position_of_.data(), rows_}, count,
                            stream);
}

// An identity has no arrays, and lines then stay where they are.
template <Value V>
void DeviceOrder::gather(const StridedLines<const std::type_identity_t<V>>& of_rows,
                         DeviceSpan<V> padded, int count, Stream& stream) const {
  require_elements(padded.size(), padded_rows_, count);
  require_aligned(of_rows.data);
  detail::launch_reorder<V>(of_rows, padded.data(), {row_at_.data(), padded_rows_}, count, stream);
}

template <Value V>
void DeviceOrder::scatter(DeviceSpan<const std::type_identity_t<V>> padded,
                          const StridedLines<V>& of_rows, int count, Stream& stream) const {
  require_elements(padded.size(), padded_rows_, count);
  require_aligned(of_rows.data);
  detail::launch_reorder<V>(padded.data(), of_rows, {position_of_.data(), rows_}, count, stream);
}

template <Value V>
void interleave(const StridedLines<const std::type_identity_t<V>>& rows, DeviceSpan<V> interleaved,
                int count, Stream& stream) {
  require_count(count);
  require_elements(interleaved.size(), interleaved.size() / count, count);
  require_aligned(rows.data);
  detail::launch_reorder<V>(rows, interleaved.data(), {nullptr, interleaved.size() / count}, count,
                            stream);
}

#define STRATA_INSTANTIATE_FOR_INDEX(I) \
  template DeviceOrder::DeviceOrder(const PaddedOrder<I>&, Stream&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE_FOR_INDEX);

#define STRATA_INSTANTIATE(V, unused)                                                              \
  template void DeviceOrder::gather<V>(DeviceSpan<const V>, DeviceSpan<V>, int, Stream&) const;    \
  template void DeviceOrder::scatter<V>(DeviceSpan<const V>, DeviceSpan<V>, int, Stream&) const;   \
  template void DeviceOrder::gather<V>(const StridedLines<const V>&, DeviceSpan<V>, int, Stream&)  \
      const;                                                                                       \
  template void DeviceOrder::scatter<V>(DeviceSpan<const V>, const StridedLines<V>&, int, Stream&) \
      const;                                                                                       \
  template void interleave<V>(const StridedLines<const V>&, DeviceSpan<V>, int, Stream&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
