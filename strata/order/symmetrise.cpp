#include "strata/order/symmetrise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata {

namespace {

template <Index I>
bool has_entry(const PatternView<I>& pattern, I row, I column) {
  const auto columns = pattern.columns_of(row);
  if (columns.empty()) return false;
  // A binary search without branches, which no processor could predict.
  const I* first = columns.data();
  for (std::size_t left = columns.size(); left > 1;) {
    const std::size_t half = left / 2;
    first += first[half] <= column ? half : 0;
    left -= half;
  }
  return *first == column;
}

// Prefetches what the rows after `row` will need. In a shuffled matrix their mirror images are
// anywhere in memory, and waiting for them took half of the time. (GCC takes a function that only
// prefetches for one without effect, and drops its calls unless they are inlined.)
template <Index I>
[[gnu::always_inline]] inline void prefetch_mirror_rows(const PatternView<I>& pattern, I row) {
  constexpr I kOffsetsAhead = 4;
  constexpr I kColumnsAhead = 2;
  if (row >= pattern.rows - kOffsetsAhead) return;
  for (const I column : pattern.columns_of(row + kOffsetsAhead)) {
    if (column > row) __builtin_prefetch(&pattern.row_offsets[column]);
  }
  for (const I column : pattern.columns_of(row + kColumnsAhead)) {
    if (column <= row) continue;
    const auto mirror = pattern.columns_of(column);
    __builtin_prefetch(mirror.data());
    __builtin_prefetch(mirror.data() + mirror.size() / 2);
  }
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
  // If every entry above the diagonal has its mirror image, then those below can be no others
  // provided that there are as many of them.
  std::atomic<bool> symmetric{true};
  std::atomic<Offset> surplus{0};
  parallel_dynamic(pattern.rows, 4096, [&](Offset begin, Offset end) {
    Offset above_minus_below = 0;
    for (I row = static_cast<I>(begin); row < end; ++row) {
      if (!symmetric.load(std::memory_order_relaxed)) return;
      prefetch_mirror_rows(pattern, row);
      for (const I column : pattern.columns_of(row)) {
        above_minus_below += (column > row) - (column < row);
        if (column > row && !has_entry(pattern, column, row)) {
          symmetric.store(false, std::memory_order_relaxed);
          return;
        }
      }
    }
    surplus.fetch_add(above_minus_below, std::memory_order_relaxed);
  });
  return symmetric && surplus == 0;
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
