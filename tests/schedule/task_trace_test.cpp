// Traces: their order, and what joining tasks keeps.
#include "strata/schedule/task_trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "strata/base/error.hpp"

namespace strata {
namespace {

// Two threads on so many tiles and powers, a millisecond per task and half of it for the second.
TaskTrace trace_on(std::int32_t tiles, int powers) {
  std::vector<TracedTask> tasks;
  double clock = 100;
  for (std::int32_t power = 1; power <= powers; ++power) {
    for (std::int32_t tile = 0; tile < tiles; ++tile) {
      tasks.push_back({tile, tile + 1, power, 0, clock, clock + 1e-3});
      tasks.push_back({tile, tile + 1, power, 1, clock + 5e-4, clock + 1e-3});
      clock += 1e-3;
    }
  }
  return trace_of(std::move(tasks));
}

TEST(TaskTrace, BeginsAtZeroAndIsInTheOrderOfStarts) {
  const TaskTrace trace =
      trace_of({{1, 2, 1, 0, 7.5, 8}, {0, 1, 1, 1, 5, 6}, {0, 1, 2, 1, 6, 7.25}});
  EXPECT_EQ(trace.tasks, (std::vector<TracedTask>{
                             {0, 1, 1, 1, 0, 1}, {0, 1, 2, 1, 1, 2.25}, {1, 2, 1, 0, 2.5, 3}}));
  EXPECT_TRUE(trace_of({}).tasks.empty());
}

TEST(TaskTrace, OfFewTasksStaysAsItIs) {
  const TaskTrace trace = trace_on(10, 3);
  EXPECT_EQ(joined(trace, 60), trace);
  EXPECT_EQ(joined({}, 1), TaskTrace{});
}

TEST(TaskTrace, JoinedTasksCoverTheSameTilesPowersThreadsAndTime) {
  const TaskTrace trace = trace_on(101, 3);
  for (const std::size_t most : {605UL, 300UL, 50UL, 6UL}) {
    SCOPED_TRACE(most);
    const TaskTrace few = joined(trace, most);
    EXPECT_LE(few.tasks.size(), most);
    EXPECT_GT(few.tiles_per_entry, 1);
    EXPECT_TRUE(std::ranges::is_sorted(few.tasks, {}, &TracedTask::start_seconds));
    std::set<std::tuple<std::int32_t, std::int32_t, int>> covered;
    for (const TracedTask& task : few.tasks) {
      EXPECT_LE(task.end - task.begin, few.tiles_per_entry);
      for (std::int32_t tile = task.begin; tile < task.end; ++tile) {
        EXPECT_TRUE(covered.emplace(tile, task.power, task.thread).second) << "twice";
        // As trace_on made it.
        const double start = 1e-3 * ((task.power - 1) * 101 + tile);
        EXPECT_LE(task.start_seconds, start + (task.thread == 0 ? 0 : 5e-4) + 1e-9);
        EXPECT_GE(task.end_seconds, start + 1e-3 - 1e-9);
      }
    }
    EXPECT_EQ(covered.size(), trace.tasks.size());
  }
}

TEST(TaskTrace, PowersAndThreadsAreNeverJoined) {
  const TaskTrace few = joined(trace_on(101, 3), 1);
  EXPECT_EQ(few.tasks.size(), 6U);
  EXPECT_THROW(joined(few, 0), InvalidArgument);
}

}  // namespace
}  // namespace strata
