// Schedule: in which order the tasks of a power sweep run. Backends execute it; it knows none of
// them.
//
// A task is one power of a run of consecutive tiles. All workers go through the same list, each
// doing its own part of every task; task i may start once every worker has finished the first
// ready_after[i] tasks. Inputs always stand earlier in the list, so the worker that is furthest
// behind can always go on: no order of the workers ends in a deadlock.
//
// Two orders of the same work:
//   plain      power by power over all tiles: what repeated products do
//   wavefront  group by group, every power as close behind the one before as its inputs allow. Over
//              groups of levels this is the order of RACE (Alappat et al., IEEE TPDS 34(2), 2023)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/schedule/tiling.hpp"

namespace strata {

struct Task {
  std::int32_t begin = 0;  // tiles [begin, end)
  std::int32_t end = 0;
  std::int32_t power = 0;  // 1 … p

  bool operator==(const Task&) const = default;
};

struct Schedule {
  int power = 0;                    // p
  std::vector<Task> tasks;          // every power of every tile once
  std::vector<Offset> ready_after;  // per task: inputs are among the first so many tasks
};

// Power by power, a task per group.
template <Index I>
Schedule plain_schedule(const Tiling<I>& tiling, int power);

struct WavefrontOptions {
  int slack = 0;  // groups that must be complete beyond the inputs: with slack, a worker rarely
                  // waits for what another one is just doing, but the window is wider
  int bands = 1;  // sweeps that share the groups, for groups too large for the cache
};

// With several bands every group is cut into so many parts, and the wavefront runs through part
// after part: the window is a part of a group wide. So that a part finds its inputs, its border
// moves back from power to power, by as many tiles as the inputs say; what lies between the borders
// of the powers is read by two sweeps. (RACE cuts large levels recursively instead and needs a
// barrier between the stages.)
template <Index I>
Schedule wavefront_schedule(const Tiling<I>& tiling, int power,
                            const WavefrontOptions& options = {});

// Completes a schedule from its order of tasks. Throws InvalidArgument, naming the task, unless
// each power of each tile occurs once and after its inputs.
template <Index I>
Schedule schedule_from_order(const Tiling<I>& tiling, int power, std::vector<Task> tasks);

// Proves a schedule on the pattern itself, entry by entry and without trusting the tiling's inputs
// or ready_after: replays the tasks and throws InvalidArgument naming the first row that is
// computed before one of its inputs is sure to be complete, twice, or never; or whose power k − 2 a
// reader may still need when power k overwrites it.
template <Index I>
void replay(const PatternView<I>& pattern, const Tiling<I>& tiling, const Schedule& schedule);

}  // namespace strata
