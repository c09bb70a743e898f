#include "strata/schedule/task_trace.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "strata/base/error.hpp"

namespace strata {

namespace {

std::vector<TracedTask> joined_tasks(const std::vector<TracedTask>& tasks, std::int32_t tiles) {
  std::map<std::tuple<std::int32_t, std::int32_t, int>, TracedTask> entries;
  for (const TracedTask& task : tasks) {
    const auto [place, added] =
        entries.try_emplace({task.begin / tiles, task.power, task.thread}, task);
    if (added) continue;
    TracedTask& entry = place->second;
    entry.begin = std::min(entry.begin, task.begin);
    entry.end = std::max(entry.end, task.end);
    entry.start_seconds = std::min(entry.start_seconds, task.start_seconds);
    entry.end_seconds = std::max(entry.end_seconds, task.end_seconds);
  }
  std::vector<TracedTask> all;
  for (const auto& [place, entry] : entries) all.push_back(entry);
  return all;
}

}  // namespace

TaskTrace trace_of(std::vector<TracedTask> tasks) {
  std::ranges::stable_sort(tasks, {}, &TracedTask::start_seconds);
  const double first = tasks.empty() ? 0 : tasks.front().start_seconds;
  for (TracedTask& task : tasks) {
    task.start_seconds -= first;
    task.end_seconds -= first;
  }
  return {.tasks = std::move(tasks)};
}

TaskTrace joined(const TaskTrace& trace, std::size_t most) {
  if (most == 0) throw InvalidArgument("a trace of no tasks");
  TaskTrace result = trace;
  std::int32_t last = 0;
  for (const TracedTask& task : trace.tasks) last = std::max(last, task.begin);
  while (result.tasks.size() > most && result.tiles_per_entry <= last) {
    result.tiles_per_entry *= 2;
    result.tasks = trace_of(joined_tasks(result.tasks, result.tiles_per_entry)).tasks;
  }
  return result;
}

}  // namespace strata
