#include "strata/plans/internal/given_order.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata::detail {

namespace {

// The distance of an inner row's plane to the next: of the longest row among some in the middle.
template <Index I>
Offset plane_size(const PatternView<I>& pattern) {
  constexpr I kSample = 4096;
  const I first = pattern.rows / 2;
  const I last = std::min<I>(pattern.rows - first, kSample) + first;
  I row = first;
  for (I candidate = first; candidate < last; ++candidate) {
    if (pattern.row_length(candidate) > pattern.row_length(row)) row = candidate;
  }
  if (first == last) return 0;
  std::vector<Offset> distances;
  for (const I column : pattern.columns_of(row)) {
    if (column > row) distances.push_back(column - row);
  }
  if (distances.empty()) return 0;
  std::erase_if(distances, [farthest = distances.back()](Offset d) { return d <= farthest / 2; });
  return distances[distances.size() / 2];
}

}  // namespace

template <Index I>
Array<I> find_planes(const PatternView<I>& pattern, const PlaneLimits& limits) {
  const Offset period = plane_size(pattern);
  const Offset rows = pattern.rows;
  if (period < limits.smallest * limits.alignment || period > rows / limits.fewest) return {};
  Array<I> planes(1, 0);
  for (Offset end = period; planes.back() < rows; end += period) {
    planes.push_back(
        static_cast<I>(std::min<Offset>(end / limits.alignment * limits.alignment, rows)));
  }
  return planes;
}

template <Index I>
Reach reach_of(const PatternView<I>& pattern, std::span<const Offset> before) {
  return parallel_reduce(
      pattern.rows, Reach{},
      [&](Offset begin, Offset end) {
        Reach most;
        for (Offset row = begin; row < end; ++row) {
          const auto columns = pattern.columns_of(static_cast<I>(row));
          if (columns.empty()) continue;
          most.behind = std::max(most.behind, before[row] - before[columns.front()]);
          most.ahead = std::max(most.ahead, before[columns.back()] - before[row]);
        }
        return most;
      },
      [](const Reach& one, const Reach& other) {
        return Reach{std::max(one.behind, other.behind), std::max(one.ahead, other.ahead)};
      });
}

template <Index I>
bool reads_scattered(const PatternView<I>& pattern) {
  constexpr Offset kBlocks = 16;
  constexpr Offset kRows = 512;
  constexpr I kElementsPerLine = 8;
  constexpr double kManyLinesPerEntry = 0.3;
  constexpr std::size_t kMostOfRow = 4096;
  const Offset rows = pattern.rows;
  std::atomic<Offset> entries = 0;
  std::atomic<Offset> lines = 0;
  parallel_dynamic(kBlocks, 1, [&](Offset block, Offset) {
    const Offset first = (rows - std::min(kRows, rows)) * block / (kBlocks - 1);
    std::vector<I> touched;
    for (Offset row = first; row < std::min(first + kRows, rows); ++row) {
      const auto columns = pattern.columns_of(static_cast<I>(row));
      for (const I column : columns.first(std::min(columns.size(), kMostOfRow))) {
        touched.push_back(column / kElementsPerLine);
      }
    }
    entries += std::ssize(touched);
    std::ranges::sort(touched);
    lines += std::ranges::unique(touched).begin() - touched.begin();
  });
  return static_cast<double>(lines) > kManyLinesPerEntry * static_cast<double>(entries);
}

#define STRATA_INSTANTIATE(I)                                               \
  template Array<I> find_planes(const PatternView<I>&, const PlaneLimits&); \
  template Reach reach_of(const PatternView<I>&, std::span<const Offset>);  \
  template bool reads_scattered(const PatternView<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
