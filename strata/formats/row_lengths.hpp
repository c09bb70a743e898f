// Exact facts about the lengths of all rows, by which the padded formats choose their widths.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

#include "strata/base/parallel.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

template <Index I>
Offset sum_of_lengths(std::span<const I> lengths) {
  return parallel_reduce(
      static_cast<Offset>(lengths.size()), Offset{0},
      [&](Offset begin, Offset end) {
        return std::accumulate(lengths.begin() + begin, lengths.begin() + end, Offset{0});
      },
      std::plus<>{});
}

template <Index I>
I longest_row(const PatternView<I>& pattern) {
  return parallel_reduce(
      pattern.rows, I{0},
      [&](Offset begin, Offset end) {
        I longest = 0;
        for (Offset row = begin; row < end; ++row) {
          longest = std::max(longest, pattern.row_length(static_cast<I>(row)));
        }
        return longest;
      },
      [](I a, I b) { return std::max(a, b); });
}

// What of the rows lies beyond their first `width` entries.
struct Overhang {
  Offset rows = 0;     // with more than `width` entries
  Offset entries = 0;  // beyond the first `width`

  Overhang operator+(const Overhang& other) const {
    return {rows + other.rows, entries + other.entries};
  }
};

template <Index I>
Overhang overhang_beyond(const PatternView<I>& pattern, I width) {
  return parallel_reduce(
      pattern.rows, Overhang{},
      [&](Offset begin, Offset end) {
        Overhang sum;
        for (Offset row = begin; row < end; ++row) {
          const I length = pattern.row_length(static_cast<I>(row));
          if (length > width) sum = sum + Overhang{1, length - width};
        }
        return sum;
      },
      std::plus<>{});
}

}  // namespace strata
