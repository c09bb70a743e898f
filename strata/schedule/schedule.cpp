#include "strata/schedule/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata {

namespace {

void require_power(int power) {
  if (power < 1) throw InvalidArgument(fmt::format("power {} is not positive", power));
}

// Where task (tile, power) stands in the list; −1 where it does not.
class Positions {
 public:
  Positions(std::int32_t tiles, int power, std::span<const Task> tasks)
      : tiles_(tiles),
        position_(checked_multiply<Offset>(tiles, power, "the number of tasks"), -1) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto [tile, task_power] = tasks[i];
      if (tile < 0 || tile >= tiles || task_power < 1 || task_power > power) {
        throw InvalidArgument(fmt::format("task {} is power {} of tile {}; there are {} tiles", i,
                                          task_power, tile, tiles));
      }
      if (at(tile, task_power) >= 0) {
        throw InvalidArgument(fmt::format("power {} of tile {} is run twice", task_power, tile));
      }
      at(tile, task_power) = static_cast<Offset>(i);
    }
    if (tasks.size() != position_.size()) {
      throw InvalidArgument(fmt::format("{} of {} tasks are run", tasks.size(), position_.size()));
    }
  }
  Offset& at(std::int32_t tile, int power) {
    return position_[static_cast<Offset>(power - 1) * tiles_ + tile];
  }

 private:
  Offset tiles_;
  std::vector<Offset> position_;
};

// The most bytes of tiles that have been visited and will be visited again.
template <Index I>
Offset widest_window(const Tiling<I>& tiling, int power, std::span<const Task> tasks) {
  std::vector<int> visits(tiling.tiles(), 0);
  Offset held = 0;
  Offset widest = 0;
  for (const Task& task : tasks) {
    if (visits[task.tile]++ == 0) held += tiling.bytes[task.tile];
    widest = std::max(widest, held);
    if (visits[task.tile] == power) held -= tiling.bytes[task.tile];
  }
  return widest;
}

}  // namespace

template <Index I>
Schedule schedule_from_order(const Tiling<I>& tiling, int power, std::vector<Task> tasks) {
  require_power(power);
  Positions positions(tiling.tiles(), power, tasks);
  Schedule schedule;
  schedule.power = power;
  schedule.ready_after.resize(tasks.size(), 0);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto [tile, task_power] = tasks[i];
    if (task_power == 1) continue;  // reads x, which is there from the start
    for (const std::int32_t input : tiling.inputs_of(tile)) {
      const Offset position = positions.at(input, task_power - 1);
      if (position >= static_cast<Offset>(i)) {
        throw InvalidArgument(fmt::format("power {} of tile {} runs before its input, tile {}",
                                          task_power, tile, input));
      }
      schedule.ready_after[i] = std::max(schedule.ready_after[i], position + 1);
    }
  }
  schedule.window_bytes = widest_window(tiling, power, tasks);
  schedule.tasks = std::move(tasks);
  return schedule;
}

template <Index I>
Schedule plain_schedule(const Tiling<I>& tiling, int power) {
  require_power(power);
  std::vector<Task> tasks;
  for (int k = 1; k <= power; ++k) {
    for (std::int32_t tile = 0; tile < tiling.tiles(); ++tile) tasks.push_back({tile, k});
  }
  return schedule_from_order(tiling, power, std::move(tasks));
}

template <Index I>
Schedule wavefront_schedule(const Tiling<I>& tiling, int power, int slack) {
  require_power(power);
  if (slack < 0) throw InvalidArgument(fmt::format("slack {} is negative", slack));
  const std::int32_t tiles = tiling.tiles();
  std::vector<Task> tasks;
  tasks.reserve(static_cast<std::size_t>(tiles) * power);
  std::vector<std::int32_t> done(power + 1, 0);  // tiles complete, by power
  done[0] = tiles;                               // x
  const auto advance = [&](int k) {
    while (done[k] < tiles) {
      const std::int32_t last_input = tiling.inputs_of(done[k]).back();
      // At the end of the matrix there is nothing left to be ahead of.
      const bool complete = done[k - 1] == tiles || last_input + slack < done[k - 1];
      if (!complete) return;
      tasks.push_back({done[k]++, k});
      if (k == 1) return;  // one tile of power 1, then whatever follows from it
    }
  };
  while (done[power] < tiles) {
    for (int k = 1; k <= power; ++k) advance(k);
  }
  return schedule_from_order(tiling, power, std::move(tasks));
}

template <Index I>
void replay(const PatternView<I>& pattern, const Tiling<I>& tiling, const Schedule& schedule) {
  if (schedule.ready_after.size() != schedule.tasks.size()) {
    throw InvalidArgument(fmt::format("{} tasks have {} waiting conditions", schedule.tasks.size(),
                                      schedule.ready_after.size()));
  }
  // finished[k][row]: how many tasks are done when power k of the row is.
  std::vector<std::vector<Offset>> finished(schedule.power + 1);
  for (auto& power : finished) power.resize(pattern.rows, -1);
  std::ranges::fill(finished[0], 0);
  for (std::size_t i = 0; i < schedule.tasks.size(); ++i) {
    const auto [tile, power] = schedule.tasks[i];
    if (power < 1 || power > schedule.power || tile < 0 || tile >= tiling.tiles()) {
      throw InvalidArgument(fmt::format("task {} is power {} of tile {}", i, power, tile));
    }
    if (schedule.ready_after[i] > static_cast<Offset>(i)) {
      throw InvalidArgument(fmt::format("task {} waits for itself or for a later task", i));
    }
    for (I row = tiling.rows(tile).begin; row < tiling.rows(tile).end; ++row) {
      if (finished[power][row] >= 0) {
        throw InvalidArgument(fmt::format("power {} of row {} is computed twice", power, row));
      }
      const auto require_input = [&](I input) {
        const Offset done = finished[power - 1][input];
        if (done < 0 || done > schedule.ready_after[i]) {
          throw InvalidArgument(
              fmt::format("power {} of row {} does not wait for power {} of row {}", power, row,
                          power - 1, input));
        }
      };
      require_input(row);  // the shift of a Newton step reads it
      for (const I column : pattern.columns_of(row)) require_input(column);
      finished[power][row] = static_cast<Offset>(i) + 1;
    }
  }
  for (int power = 1; power <= schedule.power; ++power) {
    const auto missing = std::ranges::find(finished[power], -1);
    if (missing != finished[power].end()) {
      throw InvalidArgument(fmt::format("power {} of row {} is never computed", power,
                                        missing - finished[power].begin()));
    }
  }
}

#define STRATA_INSTANTIATE(I)                                                      \
  template Schedule schedule_from_order(const Tiling<I>&, int, std::vector<Task>); \
  template Schedule plain_schedule(const Tiling<I>&, int);                         \
  template Schedule wavefront_schedule(const Tiling<I>&, int, int);                \
  template void replay(const PatternView<I>&, const Tiling<I>&, const Schedule&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
