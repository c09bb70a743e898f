// What the sliced formats (SELL-C-σ, packed SELL) share: which row sits in which slot, and how wide
// each slice is.
#pragma once

#include <algorithm>
#include <numeric>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

// Rows in slot order: inside each window of `window` rows the longest first, equal lengths in their
// old order. Empty when the window is 1, where slot s simply holds row s.
template <Index I>
Array<I> sort_rows_by_length(const PatternView<I>& pattern, I window) {
  if (window <= 1) return {};
  Array<I> row_of_slot(pattern.rows);
  std::iota(row_of_slot.begin(), row_of_slot.end(), I{0});
  parallel_dynamic(divide_up(pattern.rows, window), 64, [&](Offset begin, Offset end) {
    for (Offset w = begin; w < end; ++w) {
      const Offset first = w * window;
      const Offset last = std::min<Offset>(first + window, pattern.rows);
      std::stable_sort(row_of_slot.begin() + first, row_of_slot.begin() + last,
                       [&](I a, I b) { return pattern.row_length(a) > pattern.row_length(b); });
    }
  });
  return row_of_slot;
}

// The longest row of each slice; `row_of_slot` as above.
template <Index I>
Array<I> slice_widths(const PatternView<I>& pattern, I slice_height,
                      std::span<const I> row_of_slot) {
  Array<I> widths(divide_up(pattern.rows, slice_height));
  parallel_for(static_cast<Offset>(widths.size()), [&](Offset slice) {
    const Offset first = slice * slice_height;
    const Offset last = std::min<Offset>(first + slice_height, pattern.rows);
    I widest = 0;
    for (Offset slot = first; slot < last; ++slot) {
      const I row = row_of_slot.empty() ? static_cast<I>(slot) : row_of_slot[slot];
      widest = std::max(widest, pattern.row_length(row));
    }
    widths[slice] = widest;
  });
  return widths;
}

}  // namespace strata
