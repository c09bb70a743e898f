#include "strata/kernels/gpu/slice_headers.hpp"

#include <fmt/format.h>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata::gpu {

namespace {

// Kernels number slots and columns with 31 bits, the slots after the last row included.
template <class Sliced>
void require_device_shape(const Sliced& matrix) {
  narrow<std::int32_t>(matrix.cols(), "the number of columns on a GPU");
  const Offset slots =
      checked_multiply<Offset>(matrix.slices(), matrix.slice_height(), "the number of slots");
  narrow<std::int32_t>(slots, "the number of slots on a GPU");
}

// The number of values in a slice, in which kernels count with 31 bits and some steps too far.
Offset values_in(std::span<const Offset> offsets, Offset slice) {
  constexpr Offset kMost = Offset{1} << 29;
  const Offset values = offsets[slice + 1] - offsets[slice];
  if (values > kMost) {
    throw OverflowError(
        fmt::format("slice {} has {} values; a GPU takes {} at most", slice, values, kMost));
  }
  return values;
}

}  // namespace

template <Value V, Index I>
Array<SliceHeader> slice_headers(const PackedSell<V, I>& matrix) {
  require_device_shape(matrix);
  const auto place = [](Offset bytes, std::string_view what) {
    return narrow<std::uint32_t>(bytes / kCodeUnit, what);
  };
  Array<SliceHeader> headers(matrix.slices());
  parallel_for(matrix.slices(), [&](Offset slice) {
    const auto number = static_cast<I>(slice);
    const auto width = static_cast<std::uint32_t>(values_in(matrix.entry_offsets(), slice) /
                                                  matrix.slice_height());
    const Offset codes = matrix.code_offsets()[slice];
    const Offset values =
        codes + value_block_begin(matrix.encoding(number), matrix.slice_height(), width);
    headers[slice] = {place(matrix.data_offsets()[slice], "the place of a slice's values on a GPU"),
                      place(codes, "the place of a slice's codes on a GPU"),
                      place(values, "the place of a slice's constants on a GPU"),
                      width * 32 + static_cast<std::uint32_t>(matrix.value_encoding(number)) * 4 +
                          static_cast<std::uint32_t>(matrix.encoding(number))};
  });
  return headers;
}

template <Value V, Index I>
void require_device_size(const Sell<V, I>& matrix) {
  require_device_shape(matrix);
  parallel_for(matrix.slices(), [&](Offset slice) { values_in(matrix.slice_offsets(), slice); });
}

#define STRATA_INSTANTIATE(V, I)                                      \
  template Array<SliceHeader> slice_headers(const PackedSell<V, I>&); \
  template void require_device_size(const Sell<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
