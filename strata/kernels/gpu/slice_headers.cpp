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
  constexpr Offset kMost = Offset{1} << 28;
  const Offset values = offsets[slice + 1] - offsets[slice];
  if (values > kMost) {
    throw OverflowError(
        fmt::format("slice {} has {} values; a GPU takes {} at most", slice, values, kMost));
  }
  return values;
}

// The value encoding as kernels tell them apart.
template <Value V, Index I>
std::uint32_t value_code(const PackedSell<V, I>& matrix, I slice) {
  const ValueEncoding encoding = matrix.value_encoding(slice);
  if (encoding == ValueEncoding::mixed) {
    const MixedHeader mixed = matrix.mixed_header(slice);
    const bool one_full = mixed.full == 1 && mixed.dict16 == 0;
    if (one_full && mixed.dict8 == 0) return SliceHeader::kOneFull;
    if (is_dict8_but_one(mixed, matrix.width(slice))) return SliceHeader::kCodedButOne;
  }
  return static_cast<std::uint32_t>(encoding);
}

// value_code_of(slice): the value encoding as kernels tell them apart.
template <Value V, Index I, class ValueCodeOf>
Array<SliceHeader> headers_of(const PackedSellSlices<V, I>& slices,
                              const ValueCodeOf& value_code_of) {
  require_device_shape(slices);
  const auto place = [](Offset bytes, std::string_view what) {
    return narrow<std::uint32_t>(bytes / kCodeUnit, what);
  };
  Array<SliceHeader> headers(slices.slices());
  parallel_for(slices.slices(), [&](Offset slice) {
    const auto number = static_cast<I>(slice);
    const auto width = static_cast<std::uint32_t>(values_in(slices.entry_offsets(), slice) /
                                                  slices.slice_height());
    const Offset codes = slices.code_offsets()[slice];
    const Offset values = codes + value_block_begin(slices.encoding(number), slices.slice_height(),
                                                    width, slices.run_length());
    headers[slice] = {place(slices.data_offsets()[slice], "the place of a slice's values on a GPU"),
                      place(codes, "the place of a slice's codes on a GPU"),
                      place(values, "the place of a slice's constants on a GPU"),
                      width * 64 + value_code_of(number) * 8 +
                          static_cast<std::uint32_t>(slices.encoding(number))};
  });
  return headers;
}

}  // namespace

template <Value V, Index I>
Array<SliceHeader> slice_headers(const PackedSell<V, I>& matrix) {
  return headers_of(matrix, [&](I slice) { return value_code(matrix, slice); });
}

template <Value V, Index I>
Array<SliceHeader> slice_headers_of_full(const PackedSellSlices<V, I>& slices) {
  if (!slices.has_full_values()) {
    throw InvalidArgument("the values of this packed SELL are encoded");
  }
  return headers_of(slices, [](I) { return static_cast<std::uint32_t>(ValueEncoding::full); });
}

template <Value V, Index I>
EncodedTraits encoded_traits(const PackedSell<V, I>& matrix, std::span<const SliceHeader> headers) {
  // In the order of preference: those for any columns are slower.
  constexpr std::array kKinds{EncodedKind::constants,        EncodedKind::one_full,
                              EncodedKind::codes8,           EncodedKind::scattered_constants,
                              EncodedKind::scattered_codes8, EncodedKind::codes16};
  EncodedTraits traits;
  Offset most = 0;
  for (const EncodedKind kind : kKinds) {
    if (kind == EncodedKind::codes16 && matrix.table().size() > kLargestNearTable) continue;
    if (matrix.slice_height() < kLowestEncoded) continue;
    Offset entries = 0;
    for (const SliceHeader& header : headers) entries += header.is(kind) ? header.width() : 0;
    if (entries <= most + most / 4) continue;
    most = entries;
    traits.kind = kind;
  }
  const I middle = matrix.slices() / 2;
  if (matrix.slices() > 0 && matrix.encoding(middle) == SliceEncoding::dia) {
    const Offset first = middle * Offset{matrix.slice_height()};
    const Offset reach = matrix.column(first, matrix.width(middle) - 1) - first;
    traits.reach = static_cast<std::int32_t>(std::max<Offset>(reach, 0));
  }
  return traits;
}

template <Value V, Index I>
void require_device_size(const Sell<V, I>& matrix) {
  require_device_shape(matrix);
  parallel_for(matrix.slices(), [&](Offset slice) { values_in(matrix.slice_offsets(), slice); });
}

#define STRATA_INSTANTIATE(V, I)                                                                \
  template Array<SliceHeader> slice_headers(const PackedSell<V, I>&);                           \
  template Array<SliceHeader> slice_headers_of_full(const PackedSellSlices<V, I>&);             \
  template EncodedTraits encoded_traits(const PackedSell<V, I>&, std::span<const SliceHeader>); \
  template void require_device_size(const Sell<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
