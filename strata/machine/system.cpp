#include "strata/machine/system.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "strata/base/cgroup.hpp"
#include "strata/base/processors.hpp"

namespace strata {

namespace {

namespace fs = std::filesystem;

// Empty when there is no such file.
std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "48K" as 49152.
Offset size_in_bytes(const std::string& size) {
  const Offset number = std::atoll(size.c_str());
  switch (size.empty() ? ' ' : size.back()) {
    case 'K': return number << 10;
    case 'M': return number << 20;
    case 'G': return number << 30;
    default: return number;
  }
}

}  // namespace

std::string value_in_file(const std::string& path, const std::string& key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t split = line.find(separator);
    if (split == std::string::npos || line.compare(0, key.size(), key) != 0) continue;
    constexpr const char* kAround = " \t\"";
    const std::size_t begin = line.find_first_not_of(kAround, split + 1);
    if (begin == std::string::npos) return {};
    return line.substr(begin, line.find_last_not_of(kAround) - begin + 1);
  }
  return {};
}

// ARM processors have numbers instead of names.
std::string processor_name() {
  const std::string cpuinfo = "/proc/cpuinfo";
  const std::string name = value_in_file(cpuinfo, "model name", ':');
  if (!name.empty()) return name;
  const std::string maker = value_in_file(cpuinfo, "CPU implementer", ':');
  const std::string part = value_in_file(cpuinfo, "CPU part", ':');
  return maker.empty() ? "" : fmt::format("implementer {}, part {}", maker, part);
}

std::vector<ReportedCache> reported_caches() {
  std::vector<ReportedCache> caches;
  for (int index = 0;; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const std::string size = first_line_of(folder + "size");
    if (size.empty()) return caches;
    caches.push_back({.level = std::atoi(first_line_of(folder + "level").c_str()),
                      .type = first_line_of(folder + "type"),
                      .bytes = size_in_bytes(size),
                      .shared_by_cpus = first_line_of(folder + "shared_cpu_list")});
  }
}

// Cores are counted by the lists of hardware threads that share one.
int physical_cores() {
  std::set<std::string> cores;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/devices/system/cpu", error)) {
    const std::string siblings = first_line_of(entry.path() / "topology/thread_siblings_list");
    if (!siblings.empty()) cores.insert(siblings);
  }
  return static_cast<int>(cores.size());
}

MachineFingerprint machine_fingerprint() {
  MachineFingerprint fingerprint;
  utsname system{};
  if (uname(&system) == 0) {
    fingerprint.host = system.nodename;
    fingerprint.kernel = system.release;
  }
  fingerprint.memory_bytes = Offset{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  fingerprint.processors = usable_processors();
  fingerprint.limits = cgroup_limits();
  return fingerprint;
}

Offset available_memory() {
  Offset bytes = Offset{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  const std::string kilobytes = value_in_file("/proc/meminfo", "MemAvailable", ':');
  if (!kilobytes.empty()) bytes = std::min(bytes, Offset{std::atoll(kilobytes.c_str())} << 10);
  return std::min(bytes, cgroup_memory_left());
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

int count_of_list(const std::string& list) {
  int count = 0;
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    const std::size_t dash = range.find('-');
    const int first = std::atoi(range.c_str());
    const int last = dash == std::string::npos ? first : std::atoi(range.c_str() + dash + 1);
    count += std::max(0, last - first + 1);
  }
  return count;
}

}  // namespace strata
