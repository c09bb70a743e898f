// PatternView: where a CSR matrix has entries, without their values. Orderings and statistics see
// only this, so they are compiled per index type and not per value type. Pattern owns the arrays
// where no matrix does.
#pragma once

#include <span>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"

namespace strata {

// Borrows the arrays of a matrix: valid as long as the matrix is. Columns increase within a row.
template <Index I>
struct PatternView {
  I rows = 0;
  I cols = 0;
  std::span<const Offset> row_offsets;  // rows + 1
  std::span<const I> columns;

  Offset entries() const { return static_cast<Offset>(columns.size()); }
  I row_length(I row) const { return static_cast<I>(row_offsets[row + 1] - row_offsets[row]); }
  std::span<const I> columns_of(I row) const {
    return columns.subspan(row_offsets[row], row_offsets[row + 1] - row_offsets[row]);
  }
};

template <Index I>
struct Pattern {
  I rows = 0;
  I cols = 0;
  Array<Offset> row_offsets = Array<Offset>(1, 0);
  Array<I> columns;

  PatternView<I> view() const { return {rows, cols, row_offsets, columns}; }
  bool operator==(const Pattern&) const = default;
};

}  // namespace strata
