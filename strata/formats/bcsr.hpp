// BCSR (block CSR; Im, Yelick, Vuduc: SPARSITY, Int. J. High Perform. Comput. Appl. 18(1), 2004):
// dense blocks of r × c values with one index per block. Made for matrices with several unknowns
// per node, whose entries come in such blocks.
//
// Block row i holds the rows ir … ir+r−1; its blocks are number block_row_offsets[i] …
// block_row_offsets[i+1]−1, block columns strictly increasing. Block b covers the columns
// block_columns[b]·c … +c−1 and its values are at b·r·c, row by row. Values of a block that are no
// entries of the matrix, or lie beyond its last row or column, are 0; the presence bits tell them
// from explicit zeros.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/error.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/format_parameters.hpp"
#include "strata/formats/presence.hpp"

namespace strata {

struct BcsrOptions {
  Offset block_rows = 2;              // r, the rows of a block
  Offset block_cols = 2;              // c, the columns of a block
  double max_fill = kDefaultMaxFill;  // refuse to store more values than this per nonzero

  static constexpr std::array kParameters{FormatParameter{"block_rows", &BcsrOptions::block_rows},
                                          FormatParameter{"block_cols", &BcsrOptions::block_cols}};
  static std::vector<BcsrOptions> usual() {
    return {{.block_rows = 2, .block_cols = 2}, {.block_rows = 3, .block_cols = 3}};
  }
};

template <Value V, Index I>
class Bcsr {
 public:
  using value_type = V;
  using index_type = I;
  using Options = BcsrOptions;

  Bcsr() = default;
  // Takes the arrays as they are; throws InvalidMatrix, naming the first bad block row, unless they
  // obey the invariants above. The values that are not zero become the entries.
  Bcsr(I rows, I cols, I block_rows, I block_cols, Array<Offset> block_row_offsets,
       Array<I> block_columns, Array<V> values);

  static Bcsr from_csr(const Csr<V, I>& matrix, const BcsrOptions& options = {});
  static Footprint footprint_of(const Csr<V, I>& matrix, const BcsrOptions& options = {});
  Csr<V, I> to_csr() const;

  I rows() const { return rows_; }
  I cols() const { return cols_; }
  Offset nnz() const { return nnz_; }
  RowRange<I> all_rows() const { return {0, rows_}; }

  I block_rows() const { return block_rows_; }
  I block_cols() const { return block_cols_; }
  Offset blocks() const { return static_cast<Offset>(block_columns_.size()); }

  std::span<const Offset> block_row_offsets() const { return block_row_offsets_; }
  std::span<const I> block_columns() const { return block_columns_; }
  std::span<const V> values() const { return values_; }
  const PresenceBits& presence() const { return presence_; }

  // Where the row of the matrix starts inside a block of its block row.
  Offset position(Offset block, I row) const {
    return (block * block_rows_ + row % block_rows_) * block_cols_;
  }

  Footprint footprint() const;

 private:
  void validate() const;

  I rows_ = 0;
  I cols_ = 0;
  I block_rows_ = 1;
  I block_cols_ = 1;
  Offset nnz_ = 0;
  Array<Offset> block_row_offsets_ = Array<Offset>(1, 0);
  Array<I> block_columns_;
  Array<V> values_;
  PresenceBits presence_;
};

}  // namespace strata
