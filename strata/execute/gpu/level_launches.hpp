// The launches of a power sweep that gives every task a kernel of its own, as Panzlaff does with
// RACE's level groups on GPUs (Matrix Power Kernels on GPUs, master's thesis, Erlangen, 2024).
// Kernels of a stream run one after another, so a schedule's order is all that they need.
#pragma once

#include <cstdint>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/schedule/schedule.hpp"
#include "strata/schedule/tiling.hpp"

namespace strata::gpu {

// One power of some rows, never of none.
struct LevelLaunch {
  int power = 0;
  RowRange<std::int32_t> rows;
};

struct LevelLaunchOptions {
  bool merge = false;  // tasks of one power that follow one another, in the list and in the rows,
                       // share a launch: plain products then have one per power
};

std::vector<LevelLaunch> level_launches(const Tiling<std::int32_t>& tiling,
                                        const Schedule& schedule,
                                        const LevelLaunchOptions& options = {});

// The cache that the window of level groups should fit.
struct LevelCache {
  Offset bytes = 0;
  double safety_factor = 0.5;  // the share that is left for the matrix: vectors take the rest
};

// How large groups of levels may be: power + 1 of them are in use at a time (Alappat et al., IEEE
// TPDS 34(2), 2023). Throws InvalidArgument unless all of it is positive.
Offset level_group_bytes(const LevelCache& cache, int power);

}  // namespace strata::gpu
