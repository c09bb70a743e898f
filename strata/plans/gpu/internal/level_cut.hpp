// LevelCut: the rows of a matrix in groups for a kernel each, sized for the L2 cache.
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
  // Neighbours among the groups (groups + 1 rows) are put together as long as they have no more
  // than group_bytes, if a matrix of `bytes` in all has as many per entry everywhere.
  static LevelCut of_groups(const PatternView<std::int32_t>& pattern, Offset bytes,
                            std::span<const std::int32_t> groups, Offset group_bytes);
  // Rows as they are given, cut at multiples of `alignment` so that a group touches no more than
  // its two neighbours.
  static LevelCut of_rows(const PatternView<std::int32_t>& pattern, Offset bytes,
                          Offset group_bytes, std::int32_t alignment);

  Offset groups() const { return std::ssize(group_rows_) - 1; }
  Offset largest_bytes() const { return largest_bytes_; }

  // A tile per group. Made when it is asked for: a plan looks at many cuts and runs few.
  const Tiling<std::int32_t>& tiling();

 private:
  LevelCut(const PatternView<std::int32_t>& pattern, Offset bytes);
  void find_largest();

  PatternView<std::int32_t> pattern_;
  Array<Offset> bytes_before_;
  Array<std::int32_t> group_rows_;
  Offset largest_bytes_ = 0;
  std::optional<Tiling<std::int32_t>> tiling_;
};

}  // namespace strata::gpu::detail
