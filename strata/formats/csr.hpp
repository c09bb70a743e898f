// CSR (compressed sparse rows): the format every other one is converted from and to, and the one
// that files and generators deliver.
//
// Entries of row i are at positions row_offsets[i] … row_offsets[i+1]−1, columns strictly
// increasing. Explicit zeros are entries like any other.
#pragma once

#include <span>

#include "strata/base/array.hpp"
#include "strata/base/error.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

template <Value V, Index I>
class Csr {
 public:
  using value_type = V;
  using index_type = I;

  // The 0 × 0 matrix.
  Csr() = default;

  // Takes the arrays as they are; throws InvalidMatrix, naming the first bad row, unless they obey
  // the invariants above.
  Csr(I rows, I cols, Array<Offset> row_offsets, Array<I> columns, Array<V> values);

  // The same from arrays whose rows may be unsorted and hold duplicates, which are added up in the
  // order they stand in.
  static Csr from_unsorted(I rows, I cols, Array<Offset> row_offsets, Array<I> columns,
                           Array<V> values);

  I rows() const { return rows_; }
  I cols() const { return cols_; }
  Offset nnz() const { return static_cast<Offset>(values_.size()); }
  RowRange<I> all_rows() const { return {0, rows_}; }

  std::span<const Offset> row_offsets() const { return row_offsets_; }
  std::span<const I> columns() const { return columns_; }
  std::span<const V> values() const { return values_; }
  // New values on the same pattern.
  std::span<V> mutable_values() { return values_; }
  PatternView<I> pattern() const { return {rows_, cols_, row_offsets_, columns_}; }

  Footprint footprint() const;

  bool operator==(const Csr&) const = default;

 private:
  void validate() const;

  I rows_ = 0;
  I cols_ = 0;
  Array<Offset> row_offsets_ = Array<Offset>(1, 0);
  Array<I> columns_;
  Array<V> values_;
};

// Aᵀ (not conjugated).
template <Value V, Index I>
Csr<V, I> transposed(const Csr<V, I>& matrix);

// The matrix with other value or index types. Narrower indices that do not fit throw OverflowError;
// values are rounded; complex values become real ones only if all imaginary parts are zero.
template <Value ToV, Index ToI, Value V, Index I>
Csr<ToV, ToI> converted(const Csr<V, I>& matrix);

}  // namespace strata
