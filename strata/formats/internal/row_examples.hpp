// RowExamples: rows of a slice that others are like. Most rows have the offsets (column − row) of
// the row before, or of the same unknown of the node before, but for rows at borders in between: a
// few examples stand for all, and what is found out about one holds for the rows that are like it.
#pragma once

#include <array>
#include <span>
#include <utility>

#include "strata/base/types.hpp"

namespace strata {

// Whether rows have the offsets of others that lie so many slots before them: rows, or as many of
// them one after another. The last column tells most that have not; after that there is no branch,
// so that many columns are compared at a time.
template <Index I>
bool is_shifted(std::span<const I> before, std::span<const I> columns, Offset slots) {
  if (columns.size() != before.size()) return false;
  if (columns.empty()) return true;
  const auto distance = static_cast<I>(slots);
  if (columns.back() - before.back() != distance) return false;
  I difference = 0;
  for (std::size_t entry = 0; entry < columns.size(); ++entry) {
    difference |= (columns[entry] - before[entry]) ^ distance;
  }
  return difference == 0;
}

template <Index I>
class RowExamples {
 public:
  // Three kinds of rows along a line of nodes, of up to four unknowns each.
  static constexpr int kMost = 12;

  void clear() { count_ = 0; }

  // The number of the example that a row is like, the columns of a slot; −1 if there is none.
  int find(std::span<const I> columns, Offset slot) {
    for (int i = 0; i < count_; ++i) {
      const Example& example = examples_[i];
      if (!is_shifted(example.columns, columns, slot - example.slot)) continue;
      const int number = example.number;
      std::swap(examples_[0], examples_[i]);
      return number;
    }
    return -1;
  }

  // Makes a row an example, which must stay where it is, in place of another if there are too many.
  // Returns its number, which is below kMost.
  int add(std::span<const I> columns, Offset slot) {
    const int number = count_ < kMost ? count_++ : examples_[kMost - 1].number;
    std::swap(examples_[0], examples_[count_ - 1]);
    examples_[0] = {columns, slot, number};
    return number;
  }

 private:
  struct Example {
    std::span<const I> columns;
    Offset slot;
    int number;
  };

  std::array<Example, kMost> examples_{};  // the one that was met last comes first
  int count_ = 0;
};

}  // namespace strata
