#include "strata/order/symmetrise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata {

namespace {

// A number for a pair of indices, as good as random.
template <Index I>
std::uint64_t hash_of_pair(I low, I high) {
  std::uint64_t hash = static_cast<std::uint64_t>(low) * 0x9e3779b97f4a7c15u +
                       static_cast<std::uint64_t>(high) * 0xc2b2ae3d27d4eb4fu;
  hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93u;
  return hash ^ (hash >> 29);
}

template <Index I>
Pattern<I> transposed_pattern(const PatternView<I>& pattern) {
  Pattern<I> result{pattern.cols, pattern.rows,
                    Array<Offset>(static_cast<std::size_t>(pattern.cols) + 1, 0),
                    Array<I>(pattern.columns.size())};
  Array<Offset>& starts = result.row_offsets;
  parallel_for(pattern.entries(), [&](Offset k) {
    std::atomic_ref(starts[pattern.columns[k]]).fetch_add(1, std::memory_order_relaxed);
  });
  exclusive_scan(starts);

  // Each thread owns a range of columns with about the same number of entries and goes through all
  // rows, so that entries arrive in row order without locks.
  Array<Offset> next(starts);
  run_on_threads(pattern.entries() < kSerialBelow ? 1 : thread_count(), [&](int thread, int team) {
    const auto [begin, end] = balanced_chunk_of(starts, thread, team);
    const RowRange<I> own{static_cast<I>(begin), static_cast<I>(end)};
    for (I row = 0; row < pattern.rows; ++row) {
      for (const I column : pattern.columns_of(row)) {
        if (own.contains(column)) result.columns[next[column]++] = row;
      }
    }
  });
  return result;
}

// Counts what std::ranges::set_union would write.
struct CountingIterator {
  using difference_type = std::ptrdiff_t;
  Offset count = 0;

  CountingIterator& operator*() { return *this; }
  CountingIterator& operator++() {
    ++count;
    return *this;
  }
  CountingIterator operator++(int) { return {count++}; }
  template <Index I>
  CountingIterator& operator=(I) {
    return *this;
  }
};

// The union of two patterns of the same shape.
template <Index I>
Pattern<I> united(const PatternView<I>& a, const PatternView<I>& b) {
  Pattern<I> result{a.rows, a.cols, Array<Offset>(static_cast<std::size_t>(a.rows) + 1), {}};
  result.row_offsets[a.rows] = 0;
  parallel_for(a.rows, [&](Offset position) {
    const I row = static_cast<I>(position);
    result.row_offsets[row] =
        std::ranges::set_union(a.columns_of(row), b.columns_of(row), CountingIterator{}).out.count;
  });
  result.columns.resize(exclusive_scan(result.row_offsets));
  parallel_for(a.rows, [&](Offset position) {
    const I row = static_cast<I>(position);
    std::ranges::set_union(a.columns_of(row), b.columns_of(row),
                           result.columns.begin() + result.row_offsets[row]);
  });
  return result;
}

}  // namespace

template <Index I>
bool has_symmetric_pattern(const PatternView<I>& pattern) {
  if (pattern.rows != pattern.cols) return false;
  // The pairs above the diagonal are those below it if the sums of their hashes agree; two sets
  // that differ agree with a probability of 2⁻⁶⁴. Looking for every mirror image in its row instead
  // reads a shuffled matrix from anywhere in memory, and took as long as twenty products.
  const std::uint64_t difference = parallel_reduce(
      pattern.rows, std::uint64_t{0},
      [&](Offset begin, Offset end) {
        std::uint64_t sum = 0;
        for (I row = static_cast<I>(begin); row < end; ++row) {
          for (const I column : pattern.columns_of(row)) {
            const std::uint64_t hash = hash_of_pair(std::min(row, column), std::max(row, column));
            sum += column > row ? hash : column < row ? -hash : 0;
          }
        }
        return sum;
      },
      std::plus<>());
  return difference == 0;
}

template <Index I>
SymmetrisedPattern<I>::SymmetrisedPattern(const PatternView<I>& pattern) : view_(pattern) {
  if (pattern.rows != pattern.cols) {
    throw InvalidArgument(fmt::format("a {} x {} matrix has no symmetric pattern, it is not square",
                                      pattern.rows, pattern.cols));
  }
  if (has_symmetric_pattern(pattern)) return;
  sum_ = united(pattern, transposed_pattern(pattern).view());
  view_ = sum_.view();
}

#define STRATA_INSTANTIATE(I)                                 \
  template bool has_symmetric_pattern(const PatternView<I>&); \
  template class SymmetrisedPattern<I>
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
