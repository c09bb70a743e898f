// What the sliced formats (SELL-C-σ, packed SELL) share: which row sits in which slot, and how wide
// each slice is. Slots are the rows after sorting, filled up with empty ones to whole slices.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

// The options in the matrix' index type. A window larger than the matrix sorts the whole of it.
template <Index I>
struct SliceShape {
  I slice_height;
  I sort_window;

  SliceShape(Offset wanted_height, Offset wanted_window, I rows) {
    if (wanted_height < 1 || wanted_window < 1) {
      throw InvalidArgument("SELL-" + std::to_string(wanted_height) + "-" +
                            std::to_string(wanted_window) +
                            ": slice height and sort window start at 1");
    }
    slice_height = narrow<I>(wanted_height, "the slice height");
    sort_window = static_cast<I>(std::min<Offset>(wanted_window, std::max<I>(rows, 1)));
  }
};

// Rows in slot order: inside each window of `window` rows the longest first, equal lengths in their
// old order. Empty when the window is 1, where slot s simply holds row s.
template <Index I>
Array<I> sort_rows_by_length(const PatternView<I>& pattern, I window) {
  if (window <= 1) return {};
  Array<I> row_of_slot(pattern.rows);
  std::iota(row_of_slot.begin(), row_of_slot.end(), I{0});
  parallel_dynamic(ceil_div(pattern.rows, window), 64, [&](Offset begin, Offset end) {
    for (Offset w = begin; w < end; ++w) {
      const Offset first = w * window;
      const Offset last = std::min<Offset>(first + window, pattern.rows);
      std::sort(row_of_slot.begin() + first, row_of_slot.begin() + last, [&](I a, I b) {
        const I length_a = pattern.row_length(a);
        const I length_b = pattern.row_length(b);
        return length_a != length_b ? length_a > length_b : a < b;
      });
    }
  });
  return row_of_slot;
}

// A matrix' pattern, or some rows of it, by slot; slots after the last row have no entries.
template <Index I>
struct SlottedPattern {
  PatternView<I> pattern;
  std::span<const I> row_of_slot;  // as above
  Offset first_slot = 0;           // which holds the first row

  bool holds_row(Offset slot) const { return slot - first_slot < pattern.rows; }
  I row_at(Offset slot) const {
    return row_of_slot.empty() ? static_cast<I>(slot - first_slot) : row_of_slot[slot];
  }
  // Where the slot's entries start in the CSR matrix.
  Offset source(Offset slot) const {
    return holds_row(slot) ? pattern.row_offsets[row_at(slot)] : 0;
  }
  // Asked for row by row: a call would take longer than the answer.
  [[gnu::always_inline]] std::span<const I> columns(Offset slot) const {
    return holds_row(slot) ? pattern.columns_of(row_at(slot)) : std::span<const I>();
  }
  I length(Offset slot) const { return static_cast<I>(columns(slot).size()); }

  // How many entries each of the slots [first, first + slice_height) has, if all have as many and
  // their rows follow one another in the CSR matrix; else −1.
  Offset uniform_length(Offset first, Offset slice_height) const {
    const Offset row = first - first_slot;
    if (!row_of_slot.empty() || row < 0 || row + slice_height > pattern.rows) return -1;
    const Offset* offsets = pattern.row_offsets.data() + row;
    const Offset length = offsets[1] - offsets[0];
    // No branch, so that it is done many rows at a time.
    Offset difference = 0;
    for (Offset lane = 1; lane < slice_height; ++lane) {
      difference |= (offsets[lane + 1] - offsets[lane]) ^ length;
    }
    return difference == 0 ? length : -1;
  }

  // The longest row of the slots [first, first + slice_height).
  I widest(Offset first, I slice_height) const {
    I width = 0;
    for (Offset slot = first; slot < first + slice_height && holds_row(slot); ++slot) {
      width = std::max(width, length(slot));
    }
    return width;
  }
};

// What new values on an old pattern have to fulfil.
[[noreturn]] inline void throw_other_length(Offset row) {
  throw InvalidArgument("row " + std::to_string(row) +
                        " of the new values has another number of entries");
}
[[noreturn]] inline void throw_other_columns(Offset row) {
  throw InvalidArgument("row " + std::to_string(row) +
                        " of the new values has entries in other columns");
}
template <class Sliced, Value V, Index I>
void require_same_shape(const Sliced& sliced, const Csr<V, I>& matrix) {
  if (sliced.rows() != matrix.rows() || sliced.cols() != matrix.cols() ||
      sliced.nnz() != matrix.nnz()) {
    throw InvalidArgument("new values come with a matrix of another shape");
  }
}

// visit(slot, row) for each slot of a sliced matrix that holds one of the rows. A row stays in its
// sort window, so only the windows that the range touches are searched.
template <class Sliced, Index I, class Visit>
void for_each_slot(const Sliced& matrix, RowRange<I> rows, Visit&& visit) {
  const Offset window = matrix.sort_window();
  const Offset begin = rows.begin / window * window;
  const Offset end = std::min<Offset>(ceil_div<Offset>(rows.end, window) * window, matrix.rows());
  for (I slot = static_cast<I>(begin); slot < end; ++slot) {
    const I row = matrix.row_at(slot);
    if (rows.contains(row)) visit(slot, row);
  }
}

}  // namespace strata
