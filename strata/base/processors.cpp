#include "strata/base/processors.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "strata/base/cgroup.hpp"
#include "strata/base/parallel.hpp"

namespace strata {

namespace {

namespace fs = std::filesystem;

// No system has more; a list beyond it is not read on.
constexpr int kMostProcessors = 1 << 16;

// Adds the processors of a list such as "0-3,8".
void add_list(std::set<int>& processors, std::string_view list) {
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at != end) {
    int first = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc{}) return;
    int last = first;
    if (read.ptr != end && *read.ptr == '-') {
      read = std::from_chars(read.ptr + 1, end, last);
      if (read.ec != std::errc{}) return;
    }
    for (int processor = first; processor <= std::min(last, kMostProcessors); ++processor) {
      processors.insert(processor);
    }
    if (read.ptr == end || *read.ptr != ',') return;
    at = read.ptr + 1;
  }
}

}  // namespace

int processors_of_threads(const fs::path& root) {
  constexpr std::string_view kKey = "Cpus_allowed_list:";
  std::set<int> processors;
  std::error_code error;
  for (const auto& task : fs::directory_iterator(root / "proc/self/task", error)) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with(kKey)) continue;
      const std::size_t list = line.find_first_not_of(" \t", kKey.size());
      if (list != std::string::npos) add_list(processors, std::string_view(line).substr(list));
    }
  }
  return static_cast<int>(processors.size());
}

int usable_processors() {
  if (const int places = processors_of_openmp_places(); places > 0) return places;
  if (const int allowed = processors_of_threads(); allowed > 0) return allowed;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int ProcessorBudget::affordable_threads() const {
  const int threads = quota > 0 && quota < usable ? static_cast<int>(std::ceil(quota)) : usable;
  return std::max(threads, 1);
}

bool ProcessorBudget::affords(int threads) const {
  return threads <= std::max(usable, 1) && (quota <= 0 || threads <= std::max(quota, 1.0));
}

ProcessorBudget processor_budget() {
  return {.usable = usable_processors(), .quota = cgroup_limits().processors};
}

}  // namespace strata
