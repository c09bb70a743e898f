// JDS (jagged diagonals; Saad, Iterative Methods for Sparse Linear Systems, 2nd edition,
// section 3.4): rows sorted by length, stored one jagged diagonal after the other. The first
// diagonal holds the first entry of every row, the second the second entry of the rows that have
// one, and so on. Long loops over unlike rows without padding: made for vector computers.
//
// Slot s holds row row_of_slot[s]; lengths never increase from slot to slot, and rows of equal
// length keep their order. Diagonal j holds entry j of the slots 0 … n_j−1 with
// n_j = diagonal_offsets[j+1] − diagonal_offsets[j], so that entry j of slot s is at
// diagonal_offsets[j] + s. Columns increase strictly within a row.
#pragma once

#include <span>

#include "strata/base/array.hpp"
#include "strata/base/error.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/footprint.hpp"

namespace strata {

template <Value V, Index I>
class Jds {
 public:
  using value_type = V;
  using index_type = I;

  Jds() = default;
  // Takes the arrays as they are; throws InvalidMatrix, naming the first bad slot, diagonal or row,
  // unless they obey the invariants above. Rows of equal length may be in any order.
  Jds(I rows, I cols, Array<I> row_of_slot, Array<Offset> diagonal_offsets, Array<I> columns,
      Array<V> values);

  static Jds from_csr(const Csr<V, I>& matrix);
  static Footprint footprint_of(const Csr<V, I>& matrix);
  Csr<V, I> to_csr() const;

  I rows() const { return static_cast<I>(row_of_slot_.size()); }
  I cols() const { return cols_; }
  Offset nnz() const { return static_cast<Offset>(values_.size()); }
  RowRange<I> all_rows() const { return {0, rows()}; }
  I diagonals() const { return static_cast<I>(diagonal_offsets_.size()) - 1; }

  std::span<const I> row_of_slot() const { return row_of_slot_; }
  std::span<const Offset> diagonal_offsets() const { return diagonal_offsets_; }
  std::span<const I> columns() const { return columns_; }
  std::span<const V> values() const { return values_; }

  // Whether the slot's row has an entry on the diagonal. If not, it has none on later ones.
  bool has(I slot, I diagonal) const {
    return diagonal < diagonals() && position(slot, diagonal) < diagonal_offsets_[diagonal + 1];
  }
  Offset position(I slot, I diagonal) const { return diagonal_offsets_[diagonal] + slot; }

  Footprint footprint() const;

 private:
  void validate(I rows) const;

  I cols_ = 0;
  Array<I> row_of_slot_;
  Array<Offset> diagonal_offsets_ = Array<Offset>(1, 0);
  Array<I> columns_;
  Array<V> values_;
};

}  // namespace strata
