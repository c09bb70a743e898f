// SELL-C-σ (Kreutzer et al., SIAM J. Sci. Comput. 36(5), 2014): slices of C rows, each padded to
// its longest row and stored column by column, so that C rows advance together. Sorting rows by
// length inside windows of σ rows makes rows of one slice alike and the padding small.
//
// Slot s holds row row_of_slot[s] (or row s when nothing is sorted); slice k holds slots kC …
// kC+C−1. Entry j of slot s in slice k is at slice_offsets[k] + j·C + (s − kC). Slots after the
// last row and entries after the end of a row are padding: value 0, and a column that some row of
// the slice really uses (0 in an empty slice, which has no entries at all).
#pragma once

#include <span>

#include "strata/base/array.hpp"
#include "strata/base/error.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/footprint.hpp"

namespace strata {

struct SellOptions {
  Offset slice_height = 32;           // C, the rows of a slice
  Offset sort_window = 1;             // σ: rows are sorted by length inside windows of this many
  double max_fill = kDefaultMaxFill;  // refuse to store more values than this per nonzero
};

template <Value V, Index I>
class Sell {
 public:
  using value_type = V;
  using index_type = I;

  Sell() = default;

  static Sell from_csr(const Csr<V, I>& matrix, const SellOptions& options = {});
  static Footprint footprint_of(const Csr<V, I>& matrix, const SellOptions& options = {});
  Csr<V, I> to_csr() const;

  I rows() const { return rows_; }
  I cols() const { return cols_; }
  Offset nnz() const { return nnz_; }
  RowRange<I> all_rows() const { return {0, rows_}; }

  I slice_height() const { return slice_height_; }
  I sort_window() const { return sort_window_; }
  I slices() const { return static_cast<I>(slice_offsets_.size()) - 1; }
  bool sorted() const { return !row_of_slot_.empty(); }

  std::span<const Offset> slice_offsets() const { return slice_offsets_; }
  std::span<const I> columns() const { return columns_; }
  std::span<const V> values() const { return values_; }
  std::span<const I> row_lengths() const { return row_lengths_; }  // by slot
  std::span<const I> row_of_slot() const { return row_of_slot_; }  // empty when nothing is sorted

  I row_at(I slot) const { return sorted() ? row_of_slot_[slot] : slot; }
  Offset position(I slot, I entry) const {
    const I slice = slot / slice_height_;
    return slice_offsets_[slice] + static_cast<Offset>(entry) * slice_height_ +
           slot % slice_height_;
  }

  Footprint footprint() const;

 private:
  I rows_ = 0;
  I cols_ = 0;
  Offset nnz_ = 0;
  I slice_height_ = 1;
  I sort_window_ = 1;
  Array<Offset> slice_offsets_ = Array<Offset>(1, 0);
  Array<I> columns_;
  Array<V> values_;
  Array<I> row_lengths_;
  Array<I> row_of_slot_;
};

}  // namespace strata
