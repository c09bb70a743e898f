// TaskTrace: which thread did which task of a schedule, and when. It shows the order that threads
// really took, which a schedule leaves open.
//
//   const TaskTrace trace = plan.trace(x, powers, workspace);
//   for (const TracedTask& task : joined(trace, 1000).tasks) {
//     std::printf("%d %d %g\n", task.begin, task.power, task.start_seconds);
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata {

// What one thread did at a time: its rows of some tiles at one power.
struct TracedTask {
  std::int32_t begin = 0;  // tiles [begin, end)
  std::int32_t end = 0;
  std::int32_t power = 0;  // 1 … p
  int thread = 0;
  double start_seconds = 0;
  double end_seconds = 0;

  bool operator==(const TracedTask&) const = default;
};

struct TaskTrace {
  std::vector<TracedTask> tasks;     // by their starts, the first of which is 0
  std::int32_t tiles_per_entry = 1;  // more where tasks of neighbouring tiles were joined

  bool operator==(const TaskTrace&) const = default;
};

// Of tasks in any order, with times from any start.
TaskTrace trace_of(std::vector<TracedTask> tasks);

// At most so many tasks: those of neighbouring tiles at one power of one thread become one, from
// the first start to the last end. Every power of every thread is kept, so that there may be more
// if there are more of these. Throws InvalidArgument unless `most` is positive.
TaskTrace joined(const TaskTrace& trace, std::size_t most);

}  // namespace strata
