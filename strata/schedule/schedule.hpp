// Schedule: in which order the tasks of a power sweep run. Backends execute it, none is known here.
//
// tasks[i] is power `power` of tile `tile`. All workers walk the same list, each doing its own part
// of every tile; task i may start once every worker has finished the first ready_after[i] tasks.
// Inputs always stand earlier in the list, so whoever is furthest behind can always go on: no order
// of the workers ends in a deadlock.
//
// Two orders of the same tasks:
//   plain      power by power over all tiles: what repeated products do
//   wavefront  every power as close behind the one before as its inputs allow, plus some slack;
//              over tiles that are groups of levels, without slack, this is the order of RACE
//              (Alappat et al., IEEE TPDS 34(2), 2023)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/schedule/tiling.hpp"

namespace strata {

struct Task {
  std::int32_t tile = 0;
  std::int32_t power = 0;  // 1 … p

  bool operator==(const Task&) const = default;
};

struct Schedule {
  int power = 0;                    // p
  std::vector<Task> tasks;          // tiles × p
  std::vector<Offset> ready_after;  // per task: inputs are among the first so many tasks
  Offset window_bytes = 0;          // most matrix data between its first and its last visit
};

// Power by power.
template <Index I>
Schedule plain_schedule(const Tiling<I>& tiling, int power);

// Power k follows power k − 1 as soon as the inputs are complete and `slack` more tiles are: with
// slack, a worker rarely waits for what another one is just doing. Tiles have their own lag.
template <Index I>
Schedule wavefront_schedule(const Tiling<I>& tiling, int power, int slack);

// Completes a schedule from its order of tasks. Throws InvalidArgument, naming the task, unless
// each task occurs once and after its inputs.
template <Index I>
Schedule schedule_from_order(const Tiling<I>& tiling, int power, std::vector<Task> tasks);

// Proves a schedule on the pattern itself, entry by entry and without trusting the tiling's inputs
// or ready_after: replays the tasks and throws InvalidArgument naming the first row that is
// computed before one of its inputs is sure to be complete, twice, or never.
template <Index I>
void replay(const PatternView<I>& pattern, const Tiling<I>& tiling, const Schedule& schedule);

}  // namespace strata
