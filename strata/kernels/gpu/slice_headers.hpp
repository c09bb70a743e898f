// What the host prepares of the sliced formats before they go to a GPU: numbers narrowed to what
// its kernels count with, each of them checked.
#pragma once

#include <span>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/formats/sell.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

// Throws OverflowError if rows, slots or columns need more than 31 bits, a slice has more
// than 2^28 values, or the codes or the value data more than 64 GiB.
template <Value V, Index I>
Array<SliceHeader> slice_headers(const PackedSell<V, I>& matrix);
// The same before anything is stored. Throws InvalidArgument unless all values are full.
template <Value V, Index I>
Array<SliceHeader> slice_headers_of_full(const PackedSellSlices<V, I>& slices);

template <Value V, Index I>
EncodedTraits encoded_traits(const PackedSell<V, I>& matrix, std::span<const SliceHeader> headers);

// The same checks for SELL, which goes to the GPU as it is.
template <Value V, Index I>
void require_device_size(const Sell<V, I>& matrix);

// The slices of a range of rows that begins and ends on slices.
template <class Sliced>
SliceRange slices_of(const Sliced& matrix, RowRange<typename Sliced::index_type> rows) {
  const auto height = matrix.slice_height();
  return {static_cast<std::int32_t>(rows.begin / height),
          static_cast<std::int32_t>(ceil_div(rows.end, height))};
}

}  // namespace strata::gpu
