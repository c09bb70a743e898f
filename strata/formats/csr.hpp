// CSR (compressed sparse rows): the format every other one is converted from and to, and the one
// that files and generators deliver.
//
// Entries of row i are at positions row_offsets[i] … row_offsets[i+1]−1, columns strictly
// increasing. Explicit zeros are entries like any other.
//
// A matrix owns its arrays, or borrows those of a program that has a matrix already:
//
//   std::vector<std::int32_t> offsets{0, 2, 3}, columns{0, 1, 1};
//   std::vector<double> values{4.0, 1.0, 3.0};
//   const auto A = strata::Csr<double, std::int32_t>::borrow(2, 2, offsets, columns, values);
//   std::vector<double> x{1.0, 1.0}, y(2);
//   strata::reference::spmv(A, 1.0, x, 0.0, y);  // y is {5, 3}
#pragma once

#include <cstdint>
#include <span>

#include "strata/base/array.hpp"
#include "strata/base/borrowable_array.hpp"
#include "strata/base/error.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

// What the first row and the first column are called in arrays of other programs.
enum class IndexBase { zero = 0, one = 1 };

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

  // A matrix over the caller's arrays. They are checked as above, in parallel; messages count rows
  // and columns from 0 whatever the base. Copied are
  //
  //   row offsets   if they have 32 bits or base 1 (rows + 1 numbers)
  //   columns       if they have base 1 (nnz indices)
  //   values        never
  //
  // because everything that reads a matrix counts from 0 and with 64-bit offsets.
  //
  // The arrays have to stay where they are, unchanged, for as long as this matrix, or what it has
  // been moved to, is used. A copy of the matrix owns copies of all three and needs them no longer;
  // nor does what is made from the matrix: other formats, plans, files.
  static Csr borrow(I rows, I cols, std::span<const Offset> row_offsets, std::span<const I> columns,
                    std::span<const V> values, IndexBase base = IndexBase::zero);
  static Csr borrow(I rows, I cols, std::span<const std::int32_t> row_offsets,
                    std::span<const I> columns, std::span<const V> values,
                    IndexBase base = IndexBase::zero);

  I rows() const { return rows_; }
  I cols() const { return cols_; }
  Offset nnz() const { return static_cast<Offset>(arrays_.values.size()); }
  RowRange<I> all_rows() const { return {0, rows_}; }

  std::span<const Offset> row_offsets() const { return arrays_.row_offsets.elements(); }
  std::span<const I> columns() const { return arrays_.columns.elements(); }
  std::span<const V> values() const { return arrays_.values.elements(); }
  // New values on the same pattern. Throws InvalidArgument if the matrix borrows its arrays: they
  // are read only.
  std::span<V> mutable_values();
  PatternView<I> pattern() const { return {rows_, cols_, row_offsets(), columns()}; }

  // Whether it depends on arrays of the caller's.
  bool borrows() const { return arrays_.values.borrows(); }

  Footprint footprint() const;

  bool operator==(const Csr&) const = default;

 private:
  struct Arrays {
    BorrowableArray<Offset> row_offsets = Array<Offset>(1, 0);
    BorrowableArray<I> columns = {};
    BorrowableArray<V> values = {};

    bool operator==(const Arrays&) const = default;
  };
  Csr(I rows, I cols, Arrays arrays);

  I rows_ = 0;
  I cols_ = 0;
  Arrays arrays_;
};

// Aᵀ (not conjugated).
template <Value V, Index I>
Csr<V, I> transposed(const Csr<V, I>& matrix);

// The matrix with other value or index types. Narrower indices that do not fit throw OverflowError;
// values are rounded; complex values become real ones only if all imaginary parts are zero.
template <Value ToV, Index ToI, Value V, Index I>
Csr<ToV, ToI> converted(const Csr<V, I>& matrix);

}  // namespace strata
