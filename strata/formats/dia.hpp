// DIA (diagonals; see Saad, Iterative Methods for Sparse Linear Systems, section 3.4): every
// diagonal that has an entry is stored in full, and columns are not stored at all. Made for
// stencils and bands.
//
// Diagonal d holds the entries with column − row = offsets[d], offsets strictly increasing; its
// value in row i is at d·rows + i. Places without an entry, or outside the matrix, are 0; the
// presence bits tell them from explicit zeros.
#pragma once

#include <span>

#include "strata/base/array.hpp"
#include "strata/base/error.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/presence.hpp"

namespace strata {

struct DiaOptions {
  double max_fill = kDefaultMaxFill;  // refuse to store more values than this per nonzero
};

template <Value V, Index I>
class Dia {
 public:
  using value_type = V;
  using index_type = I;
  using Options = DiaOptions;

  Dia() = default;
  // Takes the arrays as they are; throws InvalidMatrix, naming the first bad diagonal, unless they
  // obey the invariants above. The values that are not zero become the entries.
  Dia(I rows, I cols, Array<I> offsets, Array<V> values);

  static Dia from_csr(const Csr<V, I>& matrix, const DiaOptions& options = {});
  static Footprint footprint_of(const Csr<V, I>& matrix, const DiaOptions& options = {});
  Csr<V, I> to_csr() const;

  I rows() const { return rows_; }
  I cols() const { return cols_; }
  Offset nnz() const { return nnz_; }
  RowRange<I> all_rows() const { return {0, rows_}; }
  Offset diagonals() const { return static_cast<Offset>(offsets_.size()); }

  std::span<const I> offsets() const { return offsets_; }
  std::span<const V> values() const { return values_; }
  const PresenceBits& presence() const { return presence_; }

  Offset position(Offset diagonal, I row) const { return diagonal * rows_ + row; }

  Footprint footprint() const;

 private:
  void validate() const;

  I rows_ = 0;
  I cols_ = 0;
  Offset nnz_ = 0;
  Array<I> offsets_;
  Array<V> values_;
  PresenceBits presence_;
};

}  // namespace strata
