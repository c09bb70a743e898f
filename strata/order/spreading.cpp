#include "strata/order/spreading.hpp"

#include <algorithm>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata {

namespace {

constexpr Offset kFewRows = Offset{1} << 15;
constexpr Offset kShare = 32;  // of the entries, one part in so many
constexpr Offset kGrowth = 3;  // in three dimensions it is 2.6 at most, after two steps
constexpr int kFirstSteps = 2;

// The first of the longest.
template <Index I>
I longest_row(const PatternView<I>& pattern) {
  const auto longer = [&](I one, I other) {
    return pattern.row_length(other) > pattern.row_length(one) ? other : one;
  };
  return parallel_reduce(
      Offset{pattern.rows}, I{0},
      [&](Offset begin, Offset end) {
        I longest = static_cast<I>(begin);
        for (Offset row = begin; row < end; ++row) longest = longer(longest, static_cast<I>(row));
        return longest;
      },
      longer);
}

}  // namespace

template <Index I>
bool spreads_fast(const PatternView<I>& pattern) {
  if (pattern.rows < kFewRows || pattern.rows != pattern.cols) return false;
  const I start = longest_row(pattern);
  Array<unsigned char> reached(static_cast<std::size_t>(pattern.rows));
  parallel_chunks(pattern.rows, [&](Offset begin, Offset end) {
    std::fill(reached.begin() + begin, reached.begin() + end, static_cast<unsigned char>(0));
  });
  reached[start] = 1;
  std::vector<I> step{start};
  std::vector<I> next;
  Offset entries = pattern.row_length(start);
  for (int steps = 1; entries < pattern.entries() / kShare; ++steps) {
    next.clear();
    for (const I row : step) {
      for (const I column : pattern.columns_of(row)) {
        if (reached[column] != 0) continue;
        reached[column] = 1;
        next.push_back(column);
        entries += pattern.row_length(column);
      }
    }
    const auto growth = static_cast<Offset>(step.size()) * kGrowth;
    if (next.empty() || (steps > kFirstSteps && static_cast<Offset>(next.size()) < growth)) {
      return false;
    }
    std::swap(step, next);
  }
  return pattern.entries() > 0;
}

#define STRATA_INSTANTIATE(I) template bool spreads_fast(const PatternView<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
