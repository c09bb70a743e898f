#include "strata/plans/gpu/internal/level_cut.hpp"

#include <algorithm>
#include <limits>

#include "strata/base/parallel.hpp"

namespace strata::gpu::detail {

namespace {

using I = std::int32_t;

// The most bytes between a row and the farthest that it touches.
Offset reach_of(const PatternView<I>& pattern, std::span<const Offset> bytes_before) {
  return parallel_reduce(
      pattern.rows, Offset{0},
      [&](Offset begin, Offset end) {
        Offset farthest = 0;
        for (Offset row = begin; row < end; ++row) {
          const auto columns = pattern.columns_of(static_cast<I>(row));
          if (columns.empty()) continue;
          farthest = std::max({farthest, bytes_before[columns.back()] - bytes_before[row],
                               bytes_before[row] - bytes_before[columns.front()]});
        }
        return farthest;
      },
      [](Offset a, Offset b) { return std::max(a, b); });
}

}  // namespace

LevelCut::LevelCut(const PatternView<I>& pattern, Offset bytes)
    : pattern_(pattern), bytes_before_(static_cast<std::size_t>(pattern.rows) + 1) {
  const auto entries = static_cast<double>(std::max<Offset>(pattern.row_offsets.back(), 1));
  const double bytes_per_entry = static_cast<double>(bytes) / entries;
  parallel_for(std::ssize(bytes_before_), [&](Offset row) {
    bytes_before_[row] =
        static_cast<Offset>(static_cast<double>(pattern.row_offsets[row]) * bytes_per_entry);
  });
}

LevelCut LevelCut::of_groups(const PatternView<I>& pattern, Offset bytes, std::span<const I> groups,
                             Offset group_bytes) {
  LevelCut cut(pattern, bytes);
  const std::span<const Offset> before = cut.bytes_before_;
  cut.group_rows_.push_back(0);
  for (std::size_t group = 1; group < groups.size(); ++group) {
    const bool last = group + 1 == groups.size();
    const bool full =
        !last && before[groups[group + 1]] - before[cut.group_rows_.back()] > group_bytes;
    if (last || full) cut.group_rows_.push_back(groups[group]);
  }
  cut.find_largest();
  return cut;
}

LevelCut LevelCut::of_rows(const PatternView<I>& pattern, Offset bytes, Offset group_bytes,
                           I alignment) {
  LevelCut cut(pattern, bytes);
  const Offset reach = reach_of(pattern, cut.bytes_before_);
  cut.group_rows_ =
      cut_rows<I>(cut.bytes_before_, {0, pattern.rows}, std::max(group_bytes, reach), alignment);
  cut.find_largest();
  return cut;
}

void LevelCut::find_largest() {
  for (std::size_t group = 1; group < group_rows_.size(); ++group) {
    largest_bytes_ = std::max(
        largest_bytes_, bytes_before_[group_rows_[group]] - bytes_before_[group_rows_[group - 1]]);
  }
}

const Tiling<I>& LevelCut::tiling() {
  if (!tiling_) {
    tiling_ = make_tiling<I>(pattern_, bytes_before_,
                             {group_rows_, std::numeric_limits<Offset>::max(), I{1}});
  }
  return *tiling_;
}

}  // namespace strata::gpu::detail
