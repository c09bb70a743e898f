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

// Where power k of a tile stands in the list; −1 where it does not.
class Positions {
 public:
  Positions(std::int32_t tiles, int power, std::span<const Task> tasks)
      : tiles_(tiles),
        position_(checked_multiply<Offset>(tiles, power, "the number of tasks"), -1) {
    std::size_t placed = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const Task& task = tasks[i];
      if (task.begin < 0 || task.begin > task.end || task.end > tiles || task.power < 1 ||
          task.power > power) {
        throw InvalidArgument(fmt::format("task {} is power {} of tiles {} … {}; there are {}", i,
                                          task.power, task.begin, task.end - 1, tiles));
      }
      for (std::int32_t tile = task.begin; tile < task.end; ++tile, ++placed) {
        if (at(tile, task.power) >= 0) {
          throw InvalidArgument(fmt::format("power {} of tile {} is run twice", task.power, tile));
        }
        at(tile, task.power) = static_cast<Offset>(i);
      }
    }
    if (placed != position_.size()) {
      throw InvalidArgument(
          fmt::format("{} of {} powers of tiles are run", placed, position_.size()));
    }
  }
  Offset& at(std::int32_t tile, int power) {
    return position_[static_cast<Offset>(power - 1) * tiles_ + tile];
  }

 private:
  Offset tiles_;
  std::vector<Offset> position_;
};

template <Index I>
std::vector<std::int32_t> group_of_each_tile(const Tiling<I>& tiling) {
  std::vector<std::int32_t> group_of(tiling.tiles());
  for (std::int32_t group = 0; group < tiling.groups(); ++group) {
    std::fill(group_of.begin() + tiling.group_offsets[group],
              group_of.begin() + tiling.group_offsets[group + 1], group);
  }
  return group_of;
}

// How far the powers have come in the bands so far: for each power and group the tile where the
// next band begins. Power 0, x, is complete.
template <Index I>
class Borders {
 public:
  Borders(const Tiling<I>& tiling, std::span<const std::int32_t> group_of, int power)
      : tiling_(&tiling), group_of_(group_of) {
    const auto begin = tiling.group_offsets.begin();
    const std::vector<std::int32_t> starts(begin, begin + tiling.groups());
    const std::vector<std::int32_t> ends(begin + 1, begin + 1 + tiling.groups());
    borders_.assign(power + 1, starts);
    borders_[0] = ends;
  }

  std::span<const std::int32_t> of(int power) const { return borders_[power]; }

  // Moves to band `band` of `bands`. The last power ends after its share of every group's bytes,
  // and each one before it where the inputs of its successor end.
  void move_to(int band, int bands) {
    const std::vector<std::vector<std::int32_t>> old = borders_;
    const int power = static_cast<int>(borders_.size()) - 1;
    for (std::int32_t group = 0; group < tiling_->groups(); ++group) {
      borders_[power][group] = std::max(borders_[power][group], share_end(group, band, bands));
    }
    for (int k = power; k > 1; --k) {
      for (std::int32_t group = 0; group < tiling_->groups(); ++group) {
        auto& border = borders_[k - 1][group];
        border = std::max(border, borders_[k][group]);
        for (std::int32_t tile = old[k][group]; tile < borders_[k][group]; ++tile) {
          for (const std::int32_t input : tiling_->inputs_of(tile)) {
            auto& needed = borders_[k - 1][group_of_[input]];
            needed = std::max(needed, input + 1);
          }
        }
      }
    }
  }

 private:
  std::int32_t share_end(std::int32_t group, int band, int bands) const {
    const std::int32_t begin = tiling_->group_offsets[group];
    const std::int32_t end = tiling_->group_offsets[group + 1];
    if (band == bands) return end;
    Offset all = 0;
    for (std::int32_t tile = begin; tile < end; ++tile) all += tiling_->bytes[tile];
    Offset sum = 0;
    std::int32_t tile = begin;
    while (tile < end && sum + tiling_->bytes[tile] <= all / bands * band) {
      sum += tiling_->bytes[tile++];
    }
    return tile;
  }

  const Tiling<I>* tiling_;
  std::span<const std::int32_t> group_of_;  // by tile
  std::vector<std::vector<std::int32_t>> borders_;
};

// Appends one band's wavefront: power k of a group follows when the groups that it reads have power
// k − 1, as far as this band computes it.
template <Index I>
void append_sweep(const Tiling<I>& tiling, std::span<const std::int32_t> group_of,
                  const Borders<I>& before, const Borders<I>& after, int power, int slack,
                  std::vector<Task>& tasks) {
  const std::int32_t groups = tiling.groups();
  // The last group that power k of the group reads from this band; earlier bands are complete.
  const auto last_group_read = [&](int k, std::int32_t group) {
    std::int32_t last = group;
    for (std::int32_t tile = before.of(k)[group]; tile < after.of(k)[group]; ++tile) {
      for (const std::int32_t input : tiling.inputs_of(tile)) {
        const std::int32_t read = group_of[input];
        if (read > last && input >= before.of(k - 1)[read]) last = read;
      }
    }
    return last;
  };
  std::vector<std::int32_t> done(power + 1, 0);  // groups complete, by power
  done[0] = groups;
  const auto advance = [&](int k) {
    while (done[k] < groups) {
      // At the end of the matrix there is nothing left to be ahead of.
      if (k > 1 && done[k - 1] < groups && last_group_read(k, done[k]) + slack >= done[k - 1]) {
        return;
      }
      const std::int32_t group = done[k]++;
      const Task task{before.of(k)[group], after.of(k)[group], k};
      if (task.begin < task.end) tasks.push_back(task);
      if (k == 1) return;  // one group of power 1, then whatever follows from it
    }
  };
  while (done[power] < groups) {
    for (int k = 1; k <= power; ++k) advance(k);
  }
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
    const Task& task = tasks[i];
    if (task.power == 1) continue;  // reads x, which is there from the start
    for (std::int32_t tile = task.begin; tile < task.end; ++tile) {
      for (const std::int32_t input : tiling.inputs_of(tile)) {
        const Offset position = positions.at(input, task.power - 1);
        if (position >= static_cast<Offset>(i)) {
          throw InvalidArgument(fmt::format("power {} of tile {} runs before its input, tile {}",
                                            task.power, tile, input));
        }
        schedule.ready_after[i] = std::max(schedule.ready_after[i], position + 1);
      }
    }
  }
  schedule.tasks = std::move(tasks);
  return schedule;
}

template <Index I>
Schedule plain_schedule(const Tiling<I>& tiling, int power) {
  require_power(power);
  std::vector<Task> tasks;
  for (int k = 1; k <= power; ++k) {
    for (std::int32_t group = 0; group < tiling.groups(); ++group) {
      const Task task{tiling.group_offsets[group], tiling.group_offsets[group + 1], k};
      if (task.begin < task.end) tasks.push_back(task);
    }
  }
  return schedule_from_order(tiling, power, std::move(tasks));
}

template <Index I>
Schedule wavefront_schedule(const Tiling<I>& tiling, int power, const WavefrontOptions& options) {
  require_power(power);
  if (options.slack < 0 || options.bands < 1) {
    throw InvalidArgument(
        fmt::format("a wavefront cannot have slack {} and {} bands", options.slack, options.bands));
  }
  std::vector<Task> tasks;
  const std::vector<std::int32_t> group_of = group_of_each_tile(tiling);
  Borders<I> before(tiling, group_of, power);
  for (int band = 1; band <= options.bands; ++band) {
    Borders<I> after = before;
    after.move_to(band, options.bands);
    append_sweep<I>(tiling, group_of, before, after, power, options.slack, tasks);
    before = std::move(after);
  }
  return schedule_from_order(tiling, power, std::move(tasks));
}

namespace {

// How many tasks are done when power k of a row is; −1 while it is not.
class Finished {
 public:
  Finished(Offset rows, int power) : finished_(power + 1, std::vector<Offset>(rows, -1)) {
    std::ranges::fill(finished_[0], 0);
  }
  Offset& at(int power, Offset row) { return finished_[power][row]; }
  // Throws unless power k of the row is complete before a task that waits for `ready_after`.
  void require(int power, Offset row, Offset ready_after, Offset reader) const {
    const Offset done = finished_[power][row];
    if (done >= 0 && done <= ready_after) return;
    throw InvalidArgument(fmt::format("power {} of row {} does not wait for power {} of row {}",
                                      power + 1, reader, power, row));
  }
  void require_all() const {
    for (std::size_t power = 1; power < finished_.size(); ++power) {
      const auto missing = std::ranges::find(finished_[power], -1);
      if (missing != finished_[power].end()) {
        throw InvalidArgument(fmt::format("power {} of row {} is never computed", power,
                                          missing - finished_[power].begin()));
      }
    }
  }

 private:
  std::vector<std::vector<Offset>> finished_;
};

template <Index I>
std::vector<std::vector<I>> readers_of(const PatternView<I>& pattern) {
  std::vector<std::vector<I>> readers(pattern.rows);
  for (I row = 0; row < pattern.rows; ++row) {
    for (const I column : pattern.columns_of(row)) readers[column].push_back(row);
  }
  return readers;
}

template <Index I>
void require_task(const Tiling<I>& tiling, const Schedule& schedule, std::size_t i) {
  const Task& task = schedule.tasks[i];
  if (task.power < 1 || task.power > schedule.power || task.begin < 0 || task.begin > task.end ||
      task.end > tiling.tiles()) {
    throw InvalidArgument(fmt::format("task {} is power {} of tiles {} … {}", i, task.power,
                                      task.begin, task.end - 1));
  }
  if (schedule.ready_after[i] > static_cast<Offset>(i)) {
    throw InvalidArgument(fmt::format("task {} waits for itself or for a later task", i));
  }
}

}  // namespace

template <Index I>
void replay(const PatternView<I>& pattern, const Tiling<I>& tiling, const Schedule& schedule) {
  if (schedule.ready_after.size() != schedule.tasks.size()) {
    throw InvalidArgument(fmt::format("{} tasks have {} waiting conditions", schedule.tasks.size(),
                                      schedule.ready_after.size()));
  }
  Finished finished(pattern.rows, schedule.power);
  const std::vector<std::vector<I>> readers = readers_of(pattern);
  for (std::size_t i = 0; i < schedule.tasks.size(); ++i) {
    require_task(tiling, schedule, i);
    const Task& task = schedule.tasks[i];
    const int input_power = task.power - 1;
    const Offset ready = schedule.ready_after[i];
    for (I row = tiling.row_offsets[task.begin]; row < tiling.row_offsets[task.end]; ++row) {
      if (finished.at(task.power, row) >= 0) {
        throw InvalidArgument(fmt::format("power {} of row {} is computed twice", task.power, row));
      }
      finished.require(input_power, row, ready, row);  // the shift of a Newton step reads it
      for (const I column : pattern.columns_of(row)) {
        finished.require(input_power, column, ready, row);
      }
      for (const I reader : readers[row]) finished.require(input_power, reader, ready, row);
      finished.at(task.power, row) = static_cast<Offset>(i) + 1;
    }
  }
  finished.require_all();
}

#define STRATA_INSTANTIATE(I)                                                           \
  template Schedule schedule_from_order(const Tiling<I>&, int, std::vector<Task>);      \
  template Schedule plain_schedule(const Tiling<I>&, int);                              \
  template Schedule wavefront_schedule(const Tiling<I>&, int, const WavefrontOptions&); \
  template void replay(const PatternView<I>&, const Tiling<I>&, const Schedule&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
