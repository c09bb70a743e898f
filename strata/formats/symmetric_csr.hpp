// Symmetric CSR: the lower triangle and the diagonal of a symmetric, skew-symmetric or hermitian
// matrix in CSR. Every entry below the diagonal also stands for its mirror image, so a product
// reads half the matrix and adds into two rows per entry.
#pragma once

#include <span>

#include "strata/base/error.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/symmetry.hpp"

namespace strata {

struct MatrixStatistics;

template <Value V, Index I>
class SymmetricCsr {
 public:
  using value_type = V;
  using index_type = I;

  SymmetricCsr() = default;
  // Throws InvalidMatrix, naming the first bad entry, unless `lower` is square, has nothing above
  // the diagonal, and a diagonal that its symmetry allows: zero if skew-symmetric, real if
  // hermitian. InvalidArgument if the symmetry is general.
  SymmetricCsr(Csr<V, I> lower, Symmetry symmetry);

  // Throws InvalidMatrix, naming the first entry in row order without its exact mirror image,
  // unless the matrix has the symmetry. The sign of a zero counts for nothing.
  static SymmetricCsr from_csr(const Csr<V, I>& matrix, Symmetry symmetry);
  // With the first symmetry of its values: symmetric, skew-symmetric or hermitian. Throws
  // InvalidMatrix if it has none.
  static SymmetricCsr from_csr(const Csr<V, I>& matrix);
  // Whether from_csr accepts the matrix.
  static bool suits(const MatrixStatistics& statistics);
  // Of a matrix that from_csr accepts with some symmetry.
  static Footprint footprint_of(const Csr<V, I>& matrix);
  Csr<V, I> to_csr() const;

  I rows() const { return lower_.rows(); }
  I cols() const { return lower_.cols(); }
  Offset nnz() const { return nnz_; }  // with the mirror images
  RowRange<I> all_rows() const { return lower_.all_rows(); }

  Symmetry symmetry() const { return symmetry_; }
  const Csr<V, I>& lower() const { return lower_; }
  std::span<const Offset> row_offsets() const { return lower_.row_offsets(); }
  std::span<const I> columns() const { return lower_.columns(); }
  std::span<const V> values() const { return lower_.values(); }

  Footprint footprint() const;

 private:
  Csr<V, I> lower_;
  Symmetry symmetry_ = Symmetry::symmetric;
  Offset nnz_ = 0;
};

}  // namespace strata
