// COO in blocks (cache blocking; Im, Yelick, Vuduc: SPARSITY, Int. J. High Perform. Comput. Appl.
// 18(1), 2004; Buluç and others: compressed sparse blocks, SPAA 2009): the matrix in blocks of rows
// and columns, so that the parts of x and y that a block needs stay in a cache. Made for matrices
// whose x does not fit in one and whose rows jump about in it. Blocks have at most 2^16 rows and
// columns, and an entry's row and column inside its block take two bytes each.
//
// Blocks go row by row: block (i, j) has number i·blocks_across + j, and its entries are at
// block_offsets[number] … block_offsets[number+1]−1 in row order, columns strictly increasing
// within a row.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/format_parameters.hpp"

namespace strata {

inline constexpr AllowedNumbers kTwoBytes{
    "1 … 65536", [](Offset value) { return value >= 1 && value <= 65536; }};

struct BlockedCooOptions {
  Offset block_rows = 65536;
  Offset block_cols = 16384;          // x first: y is swept through, x is jumped about in
  double max_fill = kDefaultMaxFill;  // as other formats have it; nothing is filled up here

  static constexpr std::array kParameters{
      FormatParameter{"block_rows", &BlockedCooOptions::block_rows, kTwoBytes},
      FormatParameter{"block_cols", &BlockedCooOptions::block_cols, kTwoBytes}};
};

template <Value V, Index I>
class BlockedCoo {
 public:
  using value_type = V;
  using index_type = I;
  using Options = BlockedCooOptions;

  BlockedCoo() = default;
  // Throws InvalidArgument for blocks that do not have 1 … 65536 rows and columns, and
  // OverflowError if there are too many of them to count.
  static BlockedCoo from_csr(const Csr<V, I>& matrix, const BlockedCooOptions& options = {});
  static Footprint footprint_of(const Csr<V, I>& matrix, const BlockedCooOptions& options = {});
  Csr<V, I> to_csr() const;

  I rows() const { return rows_; }
  I cols() const { return cols_; }
  Offset nnz() const { return static_cast<Offset>(values_.size()); }
  RowRange<I> all_rows() const { return {0, rows_}; }

  Offset block_rows() const { return block_rows_; }
  Offset block_cols() const { return block_cols_; }
  Offset blocks_down() const { return ceil_div<Offset>(rows_, block_rows_); }
  Offset blocks_across() const { return ceil_div<Offset>(cols_, block_cols_); }
  std::span<const Offset> block_offsets() const { return block_offsets_; }
  // Inside their blocks.
  std::span<const std::uint16_t> row_indices() const { return row_indices_; }
  std::span<const std::uint16_t> column_indices() const { return column_indices_; }
  std::span<const V> values() const { return values_; }

  Footprint footprint() const;

 private:
  I rows_ = 0;
  I cols_ = 0;
  Offset block_rows_ = 1;
  Offset block_cols_ = 1;
  Array<Offset> block_offsets_ = Array<Offset>(1, 0);
  Array<std::uint16_t> row_indices_;
  Array<std::uint16_t> column_indices_;
  Array<V> values_;
};

}  // namespace strata
