// LevelCut: the rows of a matrix in groups that have a kernel each. Sizes are counted in entries:
// how many bytes one has depends on the format alone.
#pragma once

#include <optional>
#include <span>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"
#include "strata/schedule/tiling.hpp"

namespace strata::gpu::detail {

class LevelCut {
 public:
  // group_rows has groups + 1 elements. The pattern must outlive the cut.
  LevelCut(const PatternView<std::int32_t>& pattern, Array<std::int32_t> group_rows);

  Offset groups() const { return std::ssize(group_rows_) - 1; }
  Offset largest_entries() const { return largest_entries_; }
  std::span<const std::int32_t> group_rows() const { return group_rows_; }

  // A tile per group. Made when it is asked for: a plan looks at many cuts and runs few.
  const Tiling<std::int32_t>& tiling();

 private:
  PatternView<std::int32_t> pattern_;
  Array<std::int32_t> group_rows_;
  Offset largest_entries_ = 0;
  std::optional<Tiling<std::int32_t>> tiling_;
};

// Neighbours among groups put together as long as they have no more than so many entries.
Array<std::int32_t> merged_groups(const PatternView<std::int32_t>& pattern,
                                  std::span<const std::int32_t> group_rows, Offset entries);

}  // namespace strata::gpu::detail
