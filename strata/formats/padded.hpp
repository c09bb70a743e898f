// What the formats that pad rows to a common width (ELLPACK, SELL-C-σ) share: one row of them.
#pragma once

#include <span>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/validation.hpp"

namespace strata {

// Entry j of the row is at begin + j·stride for j < length; the places up to width are padding.
struct PaddedRow {
  Offset begin = 0;
  Offset stride = 1;
  Offset length = 0;
  Offset width = 0;

  Offset position(Offset entry) const { return begin + entry * stride; }
};

namespace detail {
[[noreturn]] void throw_bad_length(Offset row, Offset length, Offset width);
[[noreturn]] void throw_padding_not_zero(Offset row);
}  // namespace detail

template <Value V, Index I>
void store_padded_row(const PaddedRow& place, std::span<const I> row_columns,
                      std::span<const V> row_values, I padding_column, Array<I>& columns,
                      Array<V>& values) {
  for (Offset entry = 0; entry < place.width; ++entry) {
    const bool real = entry < place.length;
    columns[place.position(entry)] = real ? row_columns[entry] : padding_column;
    values[place.position(entry)] = real ? row_values[entry] : V{};
  }
}

// Throws InvalidMatrix naming the row unless its columns increase strictly and lie inside the
// matrix, and its padding has value 0 and a column inside the matrix too: kernels read x there.
template <Value V, Index I>
void require_padded_row(Offset row, const PaddedRow& place, I cols, std::span<const I> columns,
                        std::span<const V> values) {
  if (place.length < 0 || place.length > place.width) {
    detail::throw_bad_length(row, place.length, place.width);
  }
  require_increasing(kRows, row, place.length, cols,
                     [&](Offset entry) { return Offset{columns[place.position(entry)]}; });
  for (Offset entry = place.length; entry < place.width; ++entry) {
    require_inside(kRows, row, columns[place.position(entry)], cols);
    if (values[place.position(entry)] != V{}) detail::throw_padding_not_zero(row);
  }
}

}  // namespace strata
