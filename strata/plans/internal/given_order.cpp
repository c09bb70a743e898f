#include "strata/plans/internal/given_order.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <numeric>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"

namespace strata::detail {

namespace {

// The longest row among some in the middle, which is inside a grid; there must be rows.
template <Index I>
I inner_row(const PatternView<I>& pattern) {
  constexpr I kSample = 4096;
  const I first = pattern.rows / 2;
  const I last = std::min<I>(pattern.rows - first, kSample) + first;
  I row = first;
  for (I candidate = first; candidate < last; ++candidate) {
    if (pattern.row_length(candidate) > pattern.row_length(row)) row = candidate;
  }
  return row;
}

// From a row to those after it that it reads.
template <Index I>
std::vector<Offset> distances_ahead(const PatternView<I>& pattern, I row) {
  std::vector<Offset> distances;
  for (const I column : pattern.columns_of(row)) {
    if (column > row) distances.push_back(column - row);
  }
  return distances;
}

// The distance of an inner row's plane to the next.
template <Index I>
Offset plane_size(const PatternView<I>& pattern) {
  if (pattern.rows == 0) return 0;
  std::vector<Offset> distances = distances_ahead(pattern, inner_row(pattern));
  if (distances.empty()) return 0;
  std::erase_if(distances, [farthest = distances.back()](Offset d) { return d <= farthest / 2; });
  return distances[distances.size() / 2];
}

// Whether so many of some rows, at places that no regularity of a matrix can match, have the
// offsets of this one, or of another unknown of its node, that it can be a grid: of one that is
// eight nodes wide and high more than half of the nodes are inside.
template <Index I>
bool are_mostly_like(const PatternView<I>& pattern, I row) {
  constexpr Offset kSample = 512;
  constexpr double kLeast = 0.4;
  constexpr I kMostUnknowns = 6;
  const Random random(7);
  Offset like = 0;
  for (Offset i = 0; i < kSample; ++i) {
    const auto other = static_cast<I>(random.below(i, static_cast<std::size_t>(pattern.rows)));
    for (I example = row; example < std::min<I>(pattern.rows, row + kMostUnknowns); ++example) {
      const auto shifted = [&](I there, I here) { return there - here == other - example; };
      if (!std::ranges::equal(pattern.columns_of(other), pattern.columns_of(example), shifted)) {
        continue;
      }
      ++like;
      break;
    }
  }
  return static_cast<double>(like) >= kLeast * static_cast<double>(kSample);
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

// The rows of a grid read at the distances of a node, a line, a plane, each with some around it.
// Each edge is as many nodes as the distance along the next one is larger.
template <Index I>
bool planes_are_least(const PatternView<I>& pattern) {
  constexpr double kFarther = 2.5;
  if (pattern.rows == 0 || pattern.rows != pattern.cols) return false;
  const I row = inner_row(pattern);
  const std::vector<Offset> distances = distances_ahead(pattern, row);
  if (distances.empty() || !are_mostly_like(pattern, row)) return false;
  std::vector<double> strides;
  for (auto first = distances.begin(); first != distances.end();) {
    const double limit = kFarther * static_cast<double>(*first);
    const auto last = std::find_if(first, distances.end(),
                                   [&](Offset d) { return static_cast<double>(d) > limit; });
    strides.push_back(static_cast<double>(std::reduce(first, last)) /
                      static_cast<double>(last - first));
    first = last;
  }
  double widest = 1;
  for (std::size_t i = 1; i < strides.size(); ++i) {
    widest = std::max(widest, strides[i] / strides[i - 1]);
  }
  return static_cast<double>(pattern.rows) >= widest * strides.back();
}

namespace {

// What follows a row that reads farther ahead reaches less if it reads no farther, and so does what
// comes before one that reads farther behind: most rows need not be looked up.
template <Index I>
Reach reach_of_rows(const PatternView<I>& pattern, std::span<const Offset> before, Offset begin,
                    Offset end) {
  Reach most;
  I last = -1;
  for (Offset row = begin; row < end; ++row) {
    const auto columns = pattern.columns_of(static_cast<I>(row));
    if (columns.empty() || columns.back() <= last) continue;
    last = columns.back();
    most.ahead = std::max(most.ahead, before[last] - before[row]);
  }
  I first = pattern.cols;
  for (Offset row = end; row-- > begin;) {
    const auto columns = pattern.columns_of(static_cast<I>(row));
    if (columns.empty() || columns.front() >= first) continue;
    first = columns.front();
    most.behind = std::max(most.behind, before[row] - before[first]);
  }
  return most;
}

Reach farthest(const Reach& one, const Reach& other) {
  return {std::max(one.behind, other.behind), std::max(one.ahead, other.ahead)};
}

}  // namespace

template <Index I>
Reach reach_of(const PatternView<I>& pattern, std::span<const Offset> before) {
  return parallel_reduce(
      pattern.rows, Reach{},
      [&](Offset begin, Offset end) { return reach_of_rows(pattern, before, begin, end); },
      farthest);
}

template <Index I>
KnownPattern look_at(const PatternView<I>& pattern) {
  if (pattern.rows != pattern.cols) return {fingerprint_of(pattern), {}};
  std::mutex mutex;
  Reach reach;
  const Fingerprint fingerprint = fingerprint_of<I>(pattern, [&](RowRange<I> rows) {
    const Reach here = reach_of_rows(pattern, pattern.row_offsets, rows.begin, rows.end);
    const std::lock_guard lock(mutex);
    reach = farthest(reach, here);
  });
  return {fingerprint, reach};
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
  template bool planes_are_least(const PatternView<I>&);                    \
  template Reach reach_of(const PatternView<I>&, std::span<const Offset>);  \
  template KnownPattern look_at(const PatternView<I>&);                     \
  template bool reads_scattered(const PatternView<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
