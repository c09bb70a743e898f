#include "strata/execute/sweep.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/processors.hpp"

namespace strata {

namespace {

// Which part of which task computes a row at some power.
template <Index I>
class Owners {
 public:
  // Of all runs of one power, by their first row.
  struct Run {
    I begin;
    std::int32_t task;
  };
  struct Owner {
    RowRange<I> rows;
    std::int32_t task;
    int part;
  };

  Owners(const Schedule& schedule, std::span<const I> part_rows, int parts)
      : runs_(schedule.power + 1), part_rows_(part_rows), parts_(parts) {
    for (std::size_t task = 0; task < schedule.tasks.size(); ++task) {
      runs_[schedule.tasks[task].power].push_back(
          {bounds(static_cast<std::int32_t>(task)).front(), static_cast<std::int32_t>(task)});
    }
    for (auto& runs : runs_) std::ranges::stable_sort(runs, {}, &Run::begin);
  }

  Owner of(I row, int power) const {
    const auto& runs = runs_[power];
    // Of runs that begin alike all but the last are empty.
    const auto next = std::ranges::upper_bound(runs, row, {}, &Run::begin);
    const std::int32_t task = std::prev(next)->task;
    const auto rows = bounds(task);
    const auto end = std::ranges::upper_bound(rows, row);
    return {{*std::prev(end), *end}, task, static_cast<int>(end - rows.begin()) - 1};
  }

 private:
  std::span<const I> bounds(std::int32_t task) const {
    const auto stride = static_cast<std::size_t>(parts_) + 1;
    return part_rows_.subspan(static_cast<std::size_t>(task) * stride, stride);
  }

  std::vector<std::vector<Run>> runs_;  // by power
  std::span<const I> part_rows_;
  int parts_;
};

// A thread that polls is in the way of others only if they share its processor.
Polling polling_of(int threads) {
  static const ProcessorBudget processors = processor_budget();
  return processors.affords(threads) ? Polling::patient() : Polling{};
}

// The owners of rows at one power, remembering the latest: neighbouring rows have the same.
template <Index I>
class RecentOwners {
 public:
  RecentOwners(const Owners<I>& owners, int power) : owners_(owners), power_(power) {}

  const typename Owners<I>::Owner& of(I row) {
    for (const auto& owner : recent_) {
      if (owner.rows.contains(row)) return owner;
    }
    auto& oldest = recent_[next_++ % recent_.size()];
    oldest = owners_.of(row, power_);
    return oldest;
  }

 private:
  const Owners<I>& owners_;
  int power_;
  std::array<typename Owners<I>::Owner, 8> recent_{};
  std::size_t next_ = 0;
};

}  // namespace

template <Index I>
Sweep<I>::Sweep(const Tiling<I>& tiling, Schedule schedule, std::span<const Offset> bytes_before,
                int parts, I alignment)
    : schedule_(std::move(schedule)), parts_(parts), polling_(polling_of(parts)) {
  if (parts < 1) throw InvalidArgument("a sweep needs at least one part");
  const auto stride = static_cast<std::size_t>(parts) + 1;
  part_rows_.resize(schedule_.tasks.size() * stride);
  bytes_before_.reserve(schedule_.tasks.size() + 1);
  bytes_before_.push_back(0);
  for (const Task& task : schedule_.tasks) {
    bytes_before_.push_back(bytes_before_.back() + bytes_before[tiling.row_offsets[task.end]] -
                            bytes_before[tiling.row_offsets[task.begin]]);
  }
  parallel_for(static_cast<Offset>(schedule_.tasks.size()), [&](Offset task) {
    const Task& run = schedule_.tasks[task];
    const RowRange<I> rows{tiling.row_offsets[run.begin], tiling.row_offsets[run.end]};
    const Offset first = bytes_before[rows.begin];
    const Offset bytes = bytes_before[rows.end] - first;
    I* bounds = part_rows_.data() + task * static_cast<Offset>(stride);
    bounds[0] = rows.begin;
    for (int part = 1; part < parts; ++part) {
      const Offset target = first + chunk_of(bytes, part, parts).begin;
      const auto begin = bytes_before.begin();
      const auto row = std::lower_bound(begin + rows.begin, begin + rows.end, target) - begin;
      // To the nearest multiple, within the rows and not before the last part.
      const Offset rounded = (row + alignment / 2) / alignment * alignment;
      bounds[part] = static_cast<I>(std::clamp<Offset>(rounded, bounds[part - 1], rows.end));
    }
    bounds[parts] = rows.end;
  });
}

template <Index I>
void Sweep<I>::find_upcoming() {
  upcoming_.assign(schedule_.tasks.size(), {});
  std::size_t since = 0;
  for (std::size_t task = 0; task < schedule_.tasks.size(); ++task) {
    if (schedule_.tasks[task].power != 1) continue;
    for (std::size_t before = since; before < task; ++before) {
      upcoming_[before] = {static_cast<std::int32_t>(task),
                           static_cast<std::int32_t>(before - since),
                           static_cast<std::int32_t>(task - since)};
    }
    since = task;
  }
}

template <Index I>
RowRange<I> Sweep<I>::upcoming_of(std::size_t task, int part) const {
  if (upcoming_.empty()) return {};
  const Upcoming& upcoming = upcoming_[task];
  if (upcoming.of == 0) return {};
  const RowRange<I> rows = rows_of(static_cast<std::size_t>(upcoming.task), part);
  const auto piece = chunk_of(Offset{rows.end} - rows.begin, upcoming.number, upcoming.of);
  return {static_cast<I>(rows.begin + piece.begin), static_cast<I>(rows.begin + piece.end)};
}

template <Index I>
void Sweep<I>::find_neighbours(const LoadedColumns<I>& loaded) {
  if (parts_ > kMostNeighbours || parts_ == 1) return;
  const Owners<I> owners(schedule_, part_rows_, parts_);
  neighbours_.assign(schedule_.tasks.size() * static_cast<std::size_t>(parts_), 0);
  const auto add = [&](std::size_t task, int part, std::uint64_t neighbours) {
    const std::atomic_ref set(neighbours_[task * static_cast<std::size_t>(parts_) + part]);
    // Mostly they are in it already, and the check is cheap.
    if ((neighbours & ~set.load(std::memory_order_relaxed)) != 0) {
      set.fetch_or(neighbours, std::memory_order_relaxed);
    }
  };
  const Offset pieces = static_cast<Offset>(schedule_.tasks.size()) * parts_;
  parallel_dynamic(pieces, 4, [&](Offset begin, Offset end) {
    for (Offset piece = begin; piece < end; ++piece) {
      const auto task = static_cast<std::size_t>(piece / parts_);
      const int part = static_cast<int>(piece % parts_);
      const int power = schedule_.tasks[task].power;
      const bool reads = power > 1;
      const bool is_read = power < schedule_.power;
      RecentOwners<I> before(owners, power - 1);
      RecentOwners<I> after(owners, power + 1);
      std::uint64_t inputs = 0;
      // It waits for the owners of what it reads, and the parts that overwrite that wait for it.
      RowRange<I> met{};  // rows of the same two owners as the last one
      const auto meet = [&](I row) {
        if (met.contains(row)) return;
        met = {0, loaded.rows()};
        const auto narrow_to = [&](RowRange<I> rows) {
          met = {std::max(met.begin, rows.begin), std::min(met.end, rows.end)};
        };
        if (reads) {
          const auto& owner = before.of(row);
          inputs |= std::uint64_t{1} << owner.part;
          narrow_to(owner.rows);
        }
        if (is_read) {
          const auto& writer = after.of(row);
          add(static_cast<std::size_t>(writer.task), writer.part, std::uint64_t{1} << part);
          narrow_to(writer.rows);
        }
      };
      const RowRange<I> rows = rows_of(task, part);
      const auto meet_all = [&](RowRange<I> met_rows) {
        for (I row = met_rows.begin; row < met_rows.end; row = met.end) meet(row);
      };
      meet_all(rows);
      loaded.for_each(rows, meet_all);
      add(task, part, inputs);
    }
  });
}

template <Index I>
class Sweep<I>::Waiting {
 public:
  Waiting(const Sweep& sweep, const Team& team, int thread)
      : sweep_(sweep), team_(team), thread_(thread) {}

  // False if another thread has failed.
  bool before(std::size_t task) {
    const Offset needed = sweep_.schedule_.ready_after[task];
    if (needed == 0) return true;
    if (sweep_.neighbours_.empty()) {
      if (needed <= all_) return true;
      all_ = std::numeric_limits<Offset>::max();
      for (std::size_t other = 0; other < team_.counters.size(); ++other) {
        all_ = std::min(all_, see(other, needed));
      }
    } else {
      std::uint64_t parts = 0;
      const int threads = static_cast<int>(team_.counters.size());
      for (int part = thread_; part < sweep_.parts_; part += threads) {
        parts |= sweep_.neighbours_[task * static_cast<std::size_t>(sweep_.parts_) + part];
      }
      for (; parts != 0; parts &= parts - 1) {
        see(static_cast<std::size_t>(std::countr_zero(parts) % threads), needed);
      }
    }
    return !team_.failed.load(std::memory_order_relaxed);
  }

 private:
  // How many tasks the other has done: so many at least.
  Offset see(std::size_t other, Offset needed) {
    const auto waited = [&] {
      return team_.counters[other].wait_for(needed, team_.failed, sweep_.polling_);
    };
    if (other >= seen_.size()) return waited();
    if (seen_[other] < needed) seen_[other] = waited();
    return seen_[other];
  }

  const Sweep& sweep_;
  const Team& team_;
  int thread_;
  Offset all_ = 0;                              // tasks that all are known to have done
  std::array<Offset, kMostNeighbours> seen_{};  // tasks that each is known to have done
};

template <Index I>
struct Sweep<I>::NoClock {
  void start() {}
  void stop(std::size_t) {}
};

// Keeps its times to itself until the thread is done: threads share no line meanwhile.
template <Index I>
class Sweep<I>::TaskClock {
 public:
  TaskClock(const Sweep& sweep, int thread, int team) : sweep_(sweep), thread_(thread) {
    const int parts = (sweep.parts_ - thread + team - 1) / team;
    tasks_.reserve(sweep.schedule_.tasks.size() * static_cast<std::size_t>(std::max(parts, 0)));
  }

  void start() { start_ = now(); }
  void stop(std::size_t task) {
    const Task& done = sweep_.schedule_.tasks[task];
    tasks_.push_back({.begin = done.begin,
                      .end = done.end,
                      .power = done.power,
                      .thread = thread_,
                      .start_seconds = start_,
                      .end_seconds = now()});
  }
  std::vector<TracedTask> tasks() && { return std::move(tasks_); }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  const Sweep& sweep_;
  int thread_;
  double start_ = 0;
  std::vector<TracedTask> tasks_;
};

template <Index I>
template <class Clock>
void Sweep<I>::run_tasks(const Team& team, int thread, TaskRange tasks,
                         FunctionRef<void(const Step&)> step, Clock& clock) const {
  Waiting waiting(*this, team, thread);
  const int threads = static_cast<int>(team.counters.size());
  for (std::size_t task = tasks.begin; task < tasks.end; ++task) {
    if (!waiting.before(task)) return;
    for (int part = thread; part < parts_; part += threads) {
      const RowRange<I> rows = rows_of(task, part);
      if (rows.begin == rows.end) continue;
      clock.start();
      step({schedule_.tasks[task].power, rows, upcoming_of(task, part)});
      clock.stop(task);
    }
    team.counters[thread].publish(static_cast<Offset>(task) + 1);
  }
}

template <Index I>
template <class Work>
void Sweep<I>::run_team(std::span<ProgressCounter> counters, std::size_t first,
                        const Work& work) const {
  for (ProgressCounter& counter : counters) counter.reset(static_cast<Offset>(first));
  std::atomic<bool> failed{false};
  run_on_threads(static_cast<int>(counters.size()), [&](int thread, int threads) {
    try {
      work(Team{counters.first(threads), failed}, thread);
    } catch (...) {
      failed.store(true, std::memory_order_seq_cst);
      for (ProgressCounter& counter : counters) counter.wake_sleepers();
      throw;
    }
  });
}

template <Index I>
void Sweep<I>::run(std::span<ProgressCounter> counters, FunctionRef<void(const Step&)> step) const {
  run_some(counters, 0, schedule_.tasks.size(), step);
}

template <Index I>
void Sweep<I>::run_some(std::span<ProgressCounter> counters, std::size_t begin, std::size_t end,
                        FunctionRef<void(const Step&)> step) const {
  run_team(counters, begin, [&](const Team& team, int thread) {
    NoClock none;
    run_tasks(team, thread, {begin, end}, step, none);
  });
}

template <Index I>
std::vector<TracedTask> Sweep<I>::run_traced(std::span<ProgressCounter> counters,
                                             FunctionRef<void(const Step&)> step) const {
  std::vector<std::vector<TracedTask>> by_thread(counters.size());
  run_team(counters, 0, [&](const Team& team, int thread) {
    TaskClock clock(*this, thread, static_cast<int>(team.counters.size()));
    run_tasks(team, thread, all_tasks(), step, clock);
    by_thread[static_cast<std::size_t>(thread)] = std::move(clock).tasks();
  });
  std::vector<TracedTask> all;
  for (const auto& tasks : by_thread) all.insert(all.end(), tasks.begin(), tasks.end());
  return all;
}

#define STRATA_INSTANTIATE(I) template class Sweep<I>
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
