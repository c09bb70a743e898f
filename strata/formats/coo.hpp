// COO (coordinates): a list of (row, column, value) in any order, duplicates allowed. What files
// and assembly loops naturally produce; duplicates mean their sum.
#pragma once

#include <span>

#include "strata/base/array.hpp"
#include "strata/base/error.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/symmetry.hpp"

namespace strata {

template <Value V, Index I>
class Coo {
 public:
  using value_type = V;
  using index_type = I;

  Coo() = default;
  // Throws InvalidMatrix, naming the first bad entry, unless the arrays have one length and every
  // index lies inside the matrix.
  Coo(I rows, I cols, Array<I> row_indices, Array<I> column_indices, Array<V> values);

  // Entries in row order, columns increasing.
  static Coo from_csr(const Csr<V, I>& matrix);
  static Footprint footprint_of(const Csr<V, I>& matrix);

  // Adds up duplicates in the order they stand in. With a symmetry other than general, every entry
  // off the diagonal also stands for its mirror image.
  Csr<V, I> to_csr(Symmetry stored = Symmetry::general) const;

  I rows() const { return rows_; }
  I cols() const { return cols_; }
  Offset nnz() const { return static_cast<Offset>(values_.size()); }
  RowRange<I> all_rows() const { return {0, rows_}; }

  std::span<const I> row_indices() const { return row_indices_; }
  std::span<const I> column_indices() const { return column_indices_; }
  std::span<const V> values() const { return values_; }

  Footprint footprint() const;

 private:
  I rows_ = 0;
  I cols_ = 0;
  Array<I> row_indices_;
  Array<I> column_indices_;
  Array<V> values_;
};

}  // namespace strata
