// SliceEncodings: how many slices of a matrix in packed SELL have which encoding, to tell people
// what it was stored as.
#pragma once

#include <algorithm>
#include <array>

#include "strata/base/types.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/formats/value_encoding.hpp"

namespace strata {

struct SliceEncodings {
  std::array<Offset, kSliceEncodings.size()> columns = {};
  std::array<Offset, kValueEncodings.size()> values = {};
};

template <class ColumnCounts, class ValueCounts>
SliceEncodings slice_encodings(const ColumnCounts& columns, const ValueCounts& values) {
  SliceEncodings encodings;
  std::ranges::copy(columns, encodings.columns.begin());
  std::ranges::copy(values, encodings.values.begin());
  return encodings;
}
template <Value V, Index I>
SliceEncodings slice_encodings(const PackedSellSlices<V, I>& matrix) {
  return slice_encodings(matrix.encoding_counts(), matrix.value_encoding_counts());
}

}  // namespace strata
