// Sweep: a schedule on CPU threads.
//
// All threads go through the same list of tasks; each does its own part of every task, the same
// rows at every power, so that its share of the window stays in its private cache. A thread
// publishes how many tasks it has done, and waits only where a task needs more of the others than
// it has already seen: no barrier, no lock. With many threads it waits only for those whose rows it
// reads.
//
// Memory rests while threads compute powers of rows that are in their caches. A step may therefore
// come with some of the rows that the thread reads from memory next, those of its next first power,
// for the kernel to ask for meanwhile: steps of all powers have their share, those of the first
// one, whose own rows have been asked for, too.
//
// Memory order: a thread publishes its count after its part of a task, and others wait for it
// before they start a task that depends on it, release to acquire. So what a task wrote is visible
// to its readers, and what a task read has been read before power k overwrites power k − 2.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/function_ref.hpp"
#include "strata/base/types.hpp"
#include "strata/execute/progress.hpp"
#include "strata/schedule/schedule.hpp"
#include "strata/schedule/task_trace.hpp"
#include "strata/schedule/tiling.hpp"

namespace strata {

template <Index I>
class Sweep {
 public:
  Sweep() = default;
  // Splits the rows of every task into `parts` of about the same bytes, at multiples of
  // `alignment`.
  Sweep(const Tiling<I>& tiling, Schedule schedule, std::span<const Offset> bytes_before, int parts,
        I alignment);

  // Finds out for every part which parts it loads from and which load from it, so that threads wait
  // for these only instead of for all. Pays with many threads; `loaded` is that of the tiling. Does
  // nothing for more than kMostNeighbours parts.
  void find_neighbours(const LoadedColumns<I>& loaded);
  static constexpr int kMostNeighbours = 64;

  // Finds out which rows each part reads next from memory, for steps to come with them. Pays where
  // the window fits into the threads' own caches: where it does not, memory or a shared cache is
  // busy anyway.
  void find_upcoming();

  // What a thread does at a time: its rows of a task.
  struct Step {
    int power = 0;
    RowRange<I> rows;
    RowRange<I> upcoming = {};  // what it reads next from memory, a piece of it per step
  };

  // Runs step for all parts of all tasks on as many threads as there are counters, or fewer: the
  // parts then go round among the threads. Counters need not be reset and belong to one run at a
  // time. What a step throws is thrown again here, after all threads have stopped.
  void run(std::span<ProgressCounter> counters, FunctionRef<void(const Step&)> step) const;
  // The same for tasks [begin, end) alone; those before them have run.
  void run_some(std::span<ProgressCounter> counters, std::size_t begin, std::size_t end,
                FunctionRef<void(const Step&)> step) const;
  // The same as run, and returns when which thread did its parts of which task, by a steady clock.
  std::vector<TracedTask> run_traced(std::span<ProgressCounter> counters,
                                     FunctionRef<void(const Step&)> step) const;

  const Schedule& schedule() const { return schedule_; }
  int parts() const { return parts_; }
  // Bytes of the matrix that the tasks before this one read, every power for itself; of all tasks
  // if it is their number.
  Offset bytes_before(std::size_t task) const { return bytes_before_[task]; }
  // The rows of one part of a task.
  RowRange<I> rows_of(std::size_t task, int part) const {
    const I* bounds = part_rows_.data() + task * (static_cast<std::size_t>(parts_) + 1) + part;
    return {bounds[0], bounds[1]};
  }
  // Of the rows of the part's next first power, those that come with this task; none before
  // find_upcoming().
  RowRange<I> upcoming_of(std::size_t task, int part) const;
  // Whether the part of the task waits until the other part has done the first ready_after tasks.
  bool waits_for(std::size_t task, int part, int other) const {
    if (neighbours_.empty()) return true;
    const std::uint64_t set = neighbours_[task * static_cast<std::size_t>(parts_) + part];
    return (set >> other & 1) != 0;
  }

 private:
  // What one thread knows of the others' progress, and its waiting for more.
  class Waiting;
  // Sees each step of a thread begin and end; one of them does nothing.
  struct NoClock;
  class TaskClock;
  struct TaskRange {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  TaskRange all_tasks() const { return {0, schedule_.tasks.size()}; }
  // What the threads of a run have in common.
  struct Team {
    std::span<ProgressCounter> counters;  // one for each
    const std::atomic<bool>& failed;
  };
  template <class Clock>
  void run_tasks(const Team& team, int thread, TaskRange tasks, FunctionRef<void(const Step&)> step,
                 Clock& clock) const;
  // work(team, thread) on every thread, for tasks from the first one on.
  template <class Work>
  void run_team(std::span<ProgressCounter> counters, std::size_t first, const Work& work) const;

  Schedule schedule_;
  int parts_ = 1;
  Polling polling_;
  Array<I> part_rows_;          // per task parts + 1 rows
  Array<Offset> bytes_before_;  // per task, and of all
  // Per task the next one of the first power, and which of how many tasks it is from the last one
  // of the first power on; empty: not asked for.
  struct Upcoming {
    std::int32_t task = 0;
    std::int32_t number = 0;
    std::int32_t of = 0;  // 0: none follows
  };
  std::vector<Upcoming> upcoming_;
  // Per task and part the set of parts that it waits for, bit by bit; empty: all of them.
  Array<std::uint64_t> neighbours_;
};

}  // namespace strata
