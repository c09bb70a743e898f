#include "strata/kernels/gpu/slice_headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

// Whether all mixed slices have constants and one full column, and nothing else.
template <Value V, Index I>
bool has_one_full_column(const PackedSell<V, I>& matrix) {
  for (I slice = 0; slice < matrix.slices(); ++slice) {
    if (matrix.value_encoding(slice) != ValueEncoding::mixed) continue;
    const MixedHeader mixed = matrix.mixed_header(slice);
    if (mixed.full != 1 || mixed.dict8 + mixed.dict16 != 0) return false;
  }
  return true;
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
EncodedTraits encoded_traits(const PackedSell<V, I>& matrix) {
  std::array<Offset, kValueEncodings.size()> entries{};
  for (I slice = 0; slice < matrix.slices(); ++slice) {
    entries[static_cast<std::size_t>(matrix.value_encoding(slice))] += matrix.width(slice);
  }
  const auto of = [&](ValueEncoding encoding) {
    return entries[static_cast<std::size_t>(encoding)];
  };
  const Offset constants = of(ValueEncoding::constant) + of(ValueEncoding::masked);
  const Offset mixed = of(ValueEncoding::mixed);
  const Offset most = *std::ranges::max_element(entries);
  EncodedTraits traits;
  if (constants >= most) {
    traits.kind = EncodedKind::constants;
  } else if (of(ValueEncoding::dict8) == most) {
    traits.kind = EncodedKind::codes8;
  } else if (of(ValueEncoding::dict16) == most && matrix.table().size() <= kLargestNearTable) {
    traits.kind = EncodedKind::codes16;
  } else if (mixed == most && has_one_full_column(matrix)) {
    traits.kind = EncodedKind::one_full;
  }
  // Twice as far as the slice in the middle reads: the next to be read from memory.
  const I middle = matrix.slices() / 2;
  if (matrix.slices() > 0 && matrix.encoding(middle) == SliceEncoding::dia) {
    const Offset first = middle * Offset{matrix.slice_height()};
    const Offset reach = matrix.column(first, matrix.width(middle) - 1) - first;
    const Offset distance = 2 * std::max<Offset>(reach, 0);
    if (distance < matrix.cols()) traits.prefetch = static_cast<std::int32_t>(distance);
  }
  return traits;
}

template <Value V, Index I>
void require_device_size(const Sell<V, I>& matrix) {
  require_device_shape(matrix);
  parallel_for(matrix.slices(), [&](Offset slice) { values_in(matrix.slice_offsets(), slice); });
}

#define STRATA_INSTANTIATE(V, I)                                      \
  template Array<SliceHeader> slice_headers(const PackedSell<V, I>&); \
  template EncodedTraits encoded_traits(const PackedSell<V, I>&);     \
  template void require_device_size(const Sell<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
