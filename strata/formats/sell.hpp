// SELL-C-σ (Kreutzer et al., SIAM J. Sci. Comput. 36(5), 2014): slices of C rows, each padded to
// its longest row and stored column by column, so that C rows advance together. Sorting rows by
// length inside windows of σ rows makes rows of one slice alike and the padding small.
//
// Slot s holds row row_of_slot[s] (or row s when nothing is sorted); slice k holds slots kC …
// kC+C−1. Entry j of slot s in slice k is at slice_offsets[k] + j·C + (s − kC). Slots after the
// last row and entries after the end of a row are padding: value 0, and a column of the slice, so
// that padding never loads what no row of the slice needs: the last column of the row or of the
// nearest row above it that has one, or the first column of the slice's first row that has any.
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

namespace strata {

struct SellOptions {
  Offset slice_height = 32;           // C, the rows of a slice
  Offset sort_window = 1;             // σ: rows are sorted by length inside windows of this many
  double max_fill = kDefaultMaxFill;  // refuse to store more values than this per nonzero

  static constexpr std::array kParameters{
      FormatParameter{"slice_height", &SellOptions::slice_height},
      FormatParameter{"sort_window", &SellOptions::sort_window}};
  static std::vector<SellOptions> usual() { return {{.sort_window = 1}, {.sort_window = 256}}; }
};

// The arrays of a SELL-C-σ matrix, laid out as above.
template <Value V, Index I>
struct SellArrays {
  I slice_height = 1;
  I sort_window = 1;  // every row stays in its window of this many slots
  Array<Offset> slice_offsets = Array<Offset>(1, 0);
  Array<I> columns;
  Array<V> values;
  Array<I> row_lengths;  // by slot, without the slots after the last row
  Array<I> row_of_slot;  // empty when the sort window is 1
};

template <Value V, Index I>
class Sell {
 public:
  using value_type = V;
  using index_type = I;
  using Options = SellOptions;

  Sell() = default;
  // Takes the arrays as they are; throws InvalidMatrix, naming the first bad row or slice, unless
  // they obey the invariants above. Padding may use any column inside the matrix.
  Sell(I rows, I cols, SellArrays<V, I> arrays);

  static Sell from_csr(const Csr<V, I>& matrix, const SellOptions& options = {});
  static Footprint footprint_of(const Csr<V, I>& matrix, const SellOptions& options = {});
  Csr<V, I> to_csr() const;

  // Takes over the values of a matrix with the pattern that this one was made from. Throws
  // InvalidArgument, naming the row, and leaves all values as they are if it has another pattern.
  void assign_values(const Csr<V, I>& matrix);

  I rows() const { return rows_; }
  I cols() const { return cols_; }
  Offset nnz() const { return nnz_; }
  RowRange<I> all_rows() const { return {0, rows_}; }

  I slice_height() const { return arrays_.slice_height; }
  I sort_window() const { return arrays_.sort_window; }
  I slices() const { return static_cast<I>(arrays_.slice_offsets.size()) - 1; }
  bool sorted() const { return !arrays_.row_of_slot.empty(); }

  std::span<const Offset> slice_offsets() const { return arrays_.slice_offsets; }
  std::span<const I> columns() const { return arrays_.columns; }
  std::span<const V> values() const { return arrays_.values; }
  std::span<const I> row_lengths() const { return arrays_.row_lengths; }  // by slot
  std::span<const I> row_of_slot() const { return arrays_.row_of_slot; }  // empty if not sorted

  I row_at(I slot) const { return sorted() ? arrays_.row_of_slot[slot] : slot; }
  Offset position(I slot, I entry) const {
    const I slice = slot / slice_height();
    return arrays_.slice_offsets[slice] + static_cast<Offset>(entry) * slice_height() +
           slot % slice_height();
  }

  Footprint footprint() const;

 private:
  void validate() const;
  void validate_slice(Offset slice) const;
  void require_pattern(const Csr<V, I>& matrix) const;

  I rows_ = 0;
  I cols_ = 0;
  Offset nnz_ = 0;
  SellArrays<V, I> arrays_;
};

}  // namespace strata
