#include "strata/execute/gpu/level_launches.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/error.hpp"

namespace strata::gpu {

std::vector<LevelLaunch> level_launches(const Tiling<std::int32_t>& tiling,
                                        const Schedule& schedule,
                                        const LevelLaunchOptions& options) {
  std::vector<LevelLaunch> launches;
  launches.reserve(schedule.tasks.size());
  for (const Task& task : schedule.tasks) {
    const RowRange<std::int32_t> rows{tiling.row_offsets[task.begin], tiling.row_offsets[task.end]};
    if (rows.begin == rows.end) continue;
    // Tasks of one power are no inputs of each other: what the second waits for is complete before
    // the first.
    const bool continues = options.merge && !launches.empty() &&
                           launches.back().power == task.power &&
                           launches.back().rows.end == rows.begin;
    if (continues) {
      launches.back().rows.end = rows.end;
    } else {
      launches.push_back({task.power, rows});
    }
  }
  return launches;
}

}  // namespace strata::gpu
