// ELLPACK (Kincaid, Oppe, Young: ITPACKV 2D User's Guide, 1989): all rows padded to the longest and
// stored column by column, so that neighbouring rows are neighbours in memory.
//
// Entry j of row i is at j·rows + i. Entries after the end of a row are padding: value 0, and the
// row's last column; in an empty row its own number, or the last column if that is smaller. So
// padding loads nothing that a power of the row does not depend on anyway.
#pragma once

#include <span>

#include "strata/base/array.hpp"
#include "strata/base/error.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/footprint.hpp"

namespace strata {

struct EllOptions {
  double max_fill = kDefaultMaxFill;  // refuse to store more values than this per nonzero
};

template <Value V, Index I>
class Ell {
 public:
  using value_type = V;
  using index_type = I;
  using Options = EllOptions;

  Ell() = default;
  // Takes the arrays as they are; throws InvalidMatrix, naming the first bad row, unless they obey
  // the invariants above. Padding may use any column inside the matrix.
  Ell(I rows, I cols, I width, Array<I> row_lengths, Array<I> columns, Array<V> values);

  static Ell from_csr(const Csr<V, I>& matrix, const EllOptions& options = {});
  static Footprint footprint_of(const Csr<V, I>& matrix, const EllOptions& options = {});
  // The first `width` entries of every row: the ELL part of HYB.
  static Ell from_leading_entries(const Csr<V, I>& matrix, I width);
  Csr<V, I> to_csr() const;

  I rows() const { return rows_; }
  I cols() const { return cols_; }
  Offset nnz() const { return nnz_; }
  RowRange<I> all_rows() const { return {0, rows_}; }
  I width() const { return width_; }

  std::span<const I> columns() const { return columns_; }
  std::span<const V> values() const { return values_; }
  std::span<const I> row_lengths() const { return row_lengths_; }

  Offset position(I row, I entry) const { return static_cast<Offset>(entry) * rows_ + row; }

  Footprint footprint() const;

 private:
  void validate() const;

  I rows_ = 0;
  I cols_ = 0;
  I width_ = 0;
  Offset nnz_ = 0;
  Array<I> row_lengths_;
  Array<I> columns_;
  Array<V> values_;
};

}  // namespace strata
