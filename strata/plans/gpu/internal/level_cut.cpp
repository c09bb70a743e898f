#include "strata/plans/gpu/internal/level_cut.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace strata::gpu::detail {

using I = std::int32_t;

LevelCut::LevelCut(const PatternView<I>& pattern, Array<I> group_rows)
    : pattern_(pattern), group_rows_(std::move(group_rows)) {
  for (std::size_t group = 1; group < group_rows_.size(); ++group) {
    largest_entries_ = std::max(largest_entries_, pattern_.row_offsets[group_rows_[group]] -
                                                      pattern_.row_offsets[group_rows_[group - 1]]);
  }
}

const Tiling<I>& LevelCut::tiling() {
  if (!tiling_) {
    tiling_ = make_tiling<I>(pattern_, pattern_.row_offsets,
                             {group_rows_, std::numeric_limits<Offset>::max(), I{1}});
  }
  return *tiling_;
}

Array<I> merged_groups(const PatternView<I>& pattern, std::span<const I> group_rows,
                       Offset entries) {
  Array<I> merged(1, 0);
  for (std::size_t group = 1; group < group_rows.size(); ++group) {
    const bool last = group + 1 == group_rows.size();
    if (last ||
        pattern.row_offsets[group_rows[group + 1]] - pattern.row_offsets[merged.back()] > entries) {
      merged.push_back(group_rows[group]);
    }
  }
  return merged;
}

}  // namespace strata::gpu::detail
