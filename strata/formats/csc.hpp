// CSC (compressed sparse columns): what solvers that factorise and MATLAB-like programs deliver.
//
// Entries of column j are at positions column_offsets[j] … column_offsets[j+1]−1, rows strictly
// increasing: the arrays are those of Aᵀ in CSR, and are kept as such.
#pragma once

#include <span>

#include "strata/base/array.hpp"
#include "strata/base/error.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/footprint.hpp"

namespace strata {

template <Value V, Index I>
class Csc {
 public:
  using value_type = V;
  using index_type = I;

  Csc() = default;
  // Takes the arrays as they are; throws InvalidMatrix, naming the first bad column, unless they
  // obey the invariants above.
  Csc(I rows, I cols, Array<Offset> column_offsets, Array<I> row_indices, Array<V> values);

  static Csc from_csr(const Csr<V, I>& matrix);
  static Footprint footprint_of(const Csr<V, I>& matrix);
  Csr<V, I> to_csr() const;

  I rows() const { return transpose_.cols(); }
  I cols() const { return transpose_.rows(); }
  Offset nnz() const { return transpose_.nnz(); }
  RowRange<I> all_rows() const { return {0, rows()}; }

  std::span<const Offset> column_offsets() const { return transpose_.row_offsets(); }
  std::span<const I> row_indices() const { return transpose_.columns(); }
  std::span<const V> values() const { return transpose_.values(); }

  // Aᵀ, whose rows are the columns of this matrix.
  const Csr<V, I>& transpose() const { return transpose_; }

  Footprint footprint() const { return transpose_.footprint(); }

 private:
  Csr<V, I> transpose_;
};

}  // namespace strata
