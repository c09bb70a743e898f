// A sweep on threads: which thread computes which rows, and whether every row finds its inputs.
#include "strata/execute/sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"
#include "strata/order/levels.hpp"
#include "tests/support/graphs.hpp"

namespace strata {
namespace {

using I = std::int32_t;
using Step = Sweep<I>::Step;

std::vector<Offset> bytes_before(const PatternView<I>& pattern) {
  return {pattern.row_offsets.begin(), pattern.row_offsets.end()};
}

// A matrix with a random schedule for it.
struct Case {
  Pattern<I> pattern;
  I alignment = 1;
  Tiling<I> tiling;
  Schedule schedule;

  Sweep<I> sweep(int parts) const {
    return Sweep<I>(tiling, schedule, bytes_before(pattern.view()), parts, alignment);
  }
};

Case random_case(std::uint64_t seed) {
  const Random random(seed, 7);
  const auto number = [&](std::uint64_t counter, Offset least, Offset most) {
    return least + static_cast<Offset>(random.below(counter, most - least + 1));
  };
  Case result;
  switch (seed % 4) {
    case 0:
      result.pattern = test::random_pattern<I>(number(0, 1, 80), number(1, 0, 300), seed);
      break;
    case 1:
      result.pattern = test::shuffled(
          test::box<I>(number(0, 1, 6), number(1, 1, 6), number(2, 1, 12), test::Touching::corners),
          seed);
      break;
    case 2: result.pattern = test::path<I>(number(0, 1, 200)); break;
    case 3: result.pattern = test::shuffled(test::random_tree<I>(number(0, 1, 120), seed), seed);
  }
  if (seed % 3 != 0) {
    result.pattern = test::reordered(result.pattern, find_levels(result.pattern.view()).order);
  }
  const auto before = bytes_before(result.pattern.view());
  result.alignment = static_cast<I>(number(3, 1, 5));
  const Array<I> groups =
      cut_rows<I>(before, {0, result.pattern.rows}, number(4, 1, 80), result.alignment);
  result.tiling =
      make_tiling<I>(result.pattern.view(), before, {groups, number(5, 1, 40), result.alignment});
  const int power = static_cast<int>(number(6, 1, 6));
  const WavefrontOptions sweep{.slack = static_cast<int>(number(7, 0, 3)),
                               .bands = static_cast<int>(number(8, 1, 4))};
  result.schedule = seed % 5 == 0 ? plain_schedule(result.tiling, power)
                                  : wavefront_schedule(result.tiling, power, sweep);
  return result;
}

// Two vectors as in PowerPlan::apply_last, power k in place of power k − 2, whose elements say
// which power they are: a row that comes too early, too late or twice finds the wrong number.
// Nothing here is atomic but the complaints, so that ThreadSanitizer sees what a sweep guarantees.
class Recurrence {
 public:
  Recurrence(const PatternView<I>& pattern, std::uint64_t seed)
      : pattern_(pattern), random_(seed, 8), powers_{} {
    powers_[0].assign(pattern.rows, 0);
    powers_[1].assign(pattern.rows, -1);
  }

  void step(const Step& task) {
    const auto& inputs = powers_[(task.power - 1) % 2];
    auto& outputs = powers_[task.power % 2];
    for (I row = task.rows.begin; row < task.rows.end; ++row) {
      delay(task.power, row);
      bool right = inputs[row] == task.power - 1 && outputs[row] == task.power - 2;
      for (const I column : pattern_.columns_of(row)) {
        right = right && inputs[column] == task.power - 1;
      }
      outputs[row] = task.power;
      if (!right) wrong_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void expect_done(int power) const {
    EXPECT_EQ(wrong_.load(), 0) << "rows that found something else than their inputs";
    for (const int k : {power - 1, power}) {
      EXPECT_TRUE(std::ranges::all_of(powers_[k % 2], [&](int found) { return found == k; }));
    }
  }

 private:
  // Now and then a thread sleeps, so that others overtake it.
  void delay(int power, I row) const {
    const auto dice = random_.below(static_cast<std::uint64_t>(power) << 32 | row, 200);
    if (dice < 2) std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (dice < 10) std::this_thread::yield();
  }

  PatternView<I> pattern_;
  Random random_;
  std::vector<int> powers_[2];
  std::atomic<int> wrong_{0};
};

TEST(Sweep, EveryRowFindsItsInputsOnMoreThreadsThanCores) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Random random(seed, 9);
    const Case c = random_case(seed);
    auto sweep = c.sweep(1 + static_cast<int>(random.below(0, 8)));
    if (seed % 2 == 0) sweep.find_neighbours(c.pattern.view());
    std::vector<ProgressCounter> counters(1 + random.below(1, 12));
    Recurrence recurrence(c.pattern.view(), seed);
    sweep.run(counters, [&](const Step& task) { recurrence.step(task); });
    recurrence.expect_done(c.schedule.power);
    if (HasFailure()) return;
  }
}

TEST(Sweep, RunsPieceByPieceWhatItRunsAtOnce) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Random random(seed, 10);
    const Case c = random_case(seed);
    auto sweep = c.sweep(4);
    if (seed % 2 == 0) sweep.find_neighbours(c.pattern.view());
    std::vector<ProgressCounter> counters(1 + random.below(0, 5));
    Recurrence recurrence(c.pattern.view(), seed);
    const std::size_t tasks = c.schedule.tasks.size();
    std::size_t begin = 0;
    for (std::uint64_t piece = 1; begin < tasks; ++piece) {
      const std::size_t end = std::min<std::size_t>(begin + random.below(piece, 6), tasks);
      sweep.run_some(counters, begin, end, [&](const Step& task) { recurrence.step(task); });
      begin = end;
    }
    recurrence.expect_done(c.schedule.power);
    EXPECT_EQ(sweep.bytes_before(0), 0);
    EXPECT_EQ(sweep.bytes_before(tasks), c.pattern.view().entries() * c.schedule.power);
    if (HasFailure()) return;
  }
}

TEST(Sweep, PartsCoverEveryPowerOfEveryRowOnceAtAlignedRows) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Case c = random_case(seed);
    for (const int parts : {1, 2, 3, 7, 100}) {
      const auto sweep = c.sweep(parts);
      EXPECT_EQ(sweep.parts(), parts);
      std::vector<ProgressCounter> counters(1);
      std::vector<std::vector<int>> visits(c.schedule.power + 1,
                                           std::vector<int>(c.pattern.rows, 0));
      const auto aligned = [&](I row) { return row % c.alignment == 0 || row == c.pattern.rows; };
      sweep.run(counters, [&](const Step& task) {
        EXPECT_LT(task.rows.begin, task.rows.end);
        EXPECT_TRUE(aligned(task.rows.begin) && aligned(task.rows.end));
        for (I row = task.rows.begin; row < task.rows.end; ++row) ++visits[task.power][row];
      });
      for (int k = 1; k <= c.schedule.power; ++k) {
        EXPECT_TRUE(std::ranges::all_of(visits[k], [](int count) { return count == 1; }));
      }
    }
    if (HasFailure()) return;
  }
}

TEST(Sweep, UpcomingRowsAreThoseOfTheNextFirstPower) {
  bool any = false;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Case c = random_case(seed);
    const int parts = 1 + static_cast<int>(seed % 5);
    auto sweep = c.sweep(parts);
    const std::vector<Task>& tasks = c.schedule.tasks;
    for (std::size_t task = 0; task < tasks.size(); ++task) {
      const RowRange<I> upcoming = sweep.upcoming_of(task, 0);
      EXPECT_EQ(upcoming.begin, upcoming.end) << "nobody asked for them";
    }
    sweep.find_upcoming();
    for (int part = 0; part < parts; ++part) {
      std::vector<I> came;
      bool first = true;
      for (std::size_t task = 0; task < tasks.size(); ++task) {
        if (tasks[task].power == 1) {
          const RowRange<I> rows = sweep.rows_of(task, part);
          std::vector<I> expected(first ? 0 : rows.end - rows.begin);
          std::iota(expected.begin(), expected.end(), rows.begin);
          EXPECT_EQ(came, expected);
          any = any || !came.empty();
          came.clear();
          first = false;
        }
        const RowRange<I> upcoming = sweep.upcoming_of(task, part);
        for (I row = upcoming.begin; row < upcoming.end; ++row) came.push_back(row);
      }
      EXPECT_TRUE(came.empty()) << "no first power follows";
    }
    // Steps come with them.
    std::vector<ProgressCounter> counters(1);
    std::size_t task = 0;
    int part = -1;
    sweep.run(counters, [&](const Step& step) {
      do {
        if (++part == parts) {
          part = 0;
          ++task;
        }
      } while (sweep.rows_of(task, part).begin == sweep.rows_of(task, part).end);
      const RowRange<I> upcoming = sweep.upcoming_of(task, part);
      EXPECT_EQ(step.upcoming.begin, upcoming.begin);
      EXPECT_EQ(step.upcoming.end, upcoming.end);
    });
    if (HasFailure()) return;
  }
  EXPECT_TRUE(any);
}

// 1000 rows of 1000 bytes in 10 groups.
Sweep<I> even_sweep(int parts) {
  const auto pattern = test::path<I>(1000);
  std::vector<Offset> before(1001);
  for (Offset row = 0; row <= 1000; ++row) before[row] = row * 1000;
  const Array<I> groups = cut_rows<I>(before, {0, 1000}, 100000, 1);
  const auto tiling =
      make_tiling<I>(pattern.view(), before, {groups, std::numeric_limits<Offset>::max(), 1});
  return Sweep<I>(tiling, wavefront_schedule(tiling, 3, {.slack = 1}), before, parts, 1);
}

TEST(Sweep, PartsHaveAboutTheSameBytes) {
  std::vector<ProgressCounter> counters(1);
  even_sweep(4).run(counters,
                    [](const Step& task) { EXPECT_EQ(task.rows.end - task.rows.begin, 25); });
}

TEST(Sweep, TheSameThreadOwnsTheSameRowsAtEveryPower) {
  std::vector<ProgressCounter> counters(3);
  std::vector<std::vector<std::thread::id>> owners(4, std::vector<std::thread::id>(1000));
  even_sweep(3).run(counters, [&](const Step& task) {
    for (I row = task.rows.begin; row < task.rows.end; ++row) {
      owners[task.power][row] = std::this_thread::get_id();
    }
  });
  EXPECT_EQ(owners[1], owners[2]);
  EXPECT_EQ(owners[1], owners[3]);
}

TEST(Sweep, InsideAParallelRegionOneThreadDoesAllParts) {
  const Case c = random_case(1);
  const auto sweep = c.sweep(4);
  run_on_threads(3, [&](int thread, int) {
    std::vector<ProgressCounter> counters(4);
    Recurrence recurrence(c.pattern.view(), thread);
    sweep.run(counters, [&](const Step& task) { recurrence.step(task); });
    recurrence.expect_done(c.schedule.power);
  });
}

TEST(Sweep, CountersServeManyRunsOfDifferentSweeps) {
  std::vector<ProgressCounter> counters(5);
  for (std::uint64_t round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const Case c = random_case(round % 7 + 1);
    const auto sweep = c.sweep(5);
    Recurrence recurrence(c.pattern.view(), round);
    sweep.run(counters, [&](const Step& task) { recurrence.step(task); });
    recurrence.expect_done(c.schedule.power);
    if (HasFailure()) return;
  }
}

TEST(Sweep, WhatAStepThrowsIsThrownAgainAndNoThreadHangs) {
  std::vector<ProgressCounter> counters(6);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Case c = random_case(seed);
    const auto sweep = c.sweep(6);
    const auto power = 1 + static_cast<int>(seed) % c.schedule.power;
    const I row = c.pattern.rows / 2;
    const auto fail = [&](const Step& task) {
      if (task.power == power && task.rows.contains(row)) throw std::runtime_error("row lost");
    };
    try {
      sweep.run(counters, fail);
      FAIL() << "nothing thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "row lost");
    }
    const auto fail_everywhere = [](const Step&) { throw std::runtime_error("all lost"); };
    EXPECT_THROW(sweep.run(counters, fail_everywhere), std::runtime_error);
    // The counters are as good as new.
    Recurrence recurrence(c.pattern.view(), seed);
    sweep.run(counters, [&](const Step& task) { recurrence.step(task); });
    recurrence.expect_done(c.schedule.power);
  }
}

// Every thread is in the trace with its parts of every task, and no task begins before those that
// it needs have ended.
TEST(Sweep, TracesAreOfTheRunThatComputes) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Case c = random_case(seed);
    const int parts = 1 + static_cast<int>(seed % 5);
    const auto sweep = c.sweep(parts);
    std::vector<ProgressCounter> counters(1 + seed % 4);
    Recurrence recurrence(c.pattern.view(), seed);
    const auto traced =
        sweep.run_traced(counters, [&](const Step& task) { recurrence.step(task); });
    recurrence.expect_done(c.schedule.power);

    const auto key = [](const auto& task) { return std::tuple(task.begin, task.end, task.power); };
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::size_t> number;
    std::vector<int> steps(c.schedule.tasks.size());
    for (std::size_t task = 0; task < c.schedule.tasks.size(); ++task) {
      number[key(c.schedule.tasks[task])] = task;
      for (int part = 0; part < parts; ++part) {
        const auto rows = sweep.rows_of(task, part);
        if (rows.begin < rows.end) ++steps[task];
      }
    }
    std::vector<int> found(steps.size());
    std::vector<double> ended(steps.size(), 0);
    for (const TracedTask& task : traced) {
      EXPECT_LE(task.start_seconds, task.end_seconds);
      EXPECT_GE(task.thread, 0);
      EXPECT_LT(task.thread, static_cast<int>(counters.size()));
      const std::size_t place = number.at(key(task));
      ++found[place];
      ended[place] = std::max(ended[place], task.end_seconds);
    }
    EXPECT_EQ(found, steps);
    for (const TracedTask& task : traced) {
      const Offset needed = c.schedule.ready_after[number.at(key(task))];
      for (Offset before = 0; before < needed; ++before) {
        EXPECT_LE(ended[before], task.start_seconds);
      }
    }
    if (HasFailure()) return;
  }
}

TEST(Sweep, OfNothingDoesNothing) {
  std::vector<ProgressCounter> counters(3);
  const auto never = [](const Step&) { FAIL(); };
  Sweep<I>().run(counters, never);
  const Pattern<I> none;
  const std::vector<Offset> before{0};
  const std::vector<I> groups{0};
  const auto tiling = make_tiling<I>(none.view(), before, {groups, 1, 1});
  Sweep<I>(tiling, wavefront_schedule(tiling, 3), before, 2, 1).run(counters, never);
  EXPECT_TRUE(Sweep<I>().run_traced(counters, never).empty());
}

TEST(Sweep, NeedsAPart) {
  const Case c = random_case(1);
  EXPECT_THROW(c.sweep(0), InvalidArgument);
  EXPECT_THROW(c.sweep(-1), InvalidArgument);
}

}  // namespace
}  // namespace strata
