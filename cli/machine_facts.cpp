#include "cli/machine_facts.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "cli/build_info.hpp"

namespace strata::cli {

namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The value behind the first "key : value" or key="value" of a file; empty when there is none.
std::string value_in(const fs::path& path, const std::string& key, char separator) {
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
  const fs::path cpuinfo = "/proc/cpuinfo";
  const std::string name = value_in(cpuinfo, "model name", ':');
  if (!name.empty()) return name;
  const std::string maker = value_in(cpuinfo, "CPU implementer", ':');
  const std::string part = value_in(cpuinfo, "CPU part", ':');
  return maker.empty() ? "" : fmt::format("implementer {}, part {}", maker, part);
}

// Cores are counted by the lists of hardware threads that share one.
std::size_t core_count() {
  std::set<std::string> cores;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/devices/system/cpu", error)) {
    const std::string siblings = first_line(entry.path() / "topology/thread_siblings_list");
    if (!siblings.empty()) cores.insert(siblings);
  }
  return cores.size();
}

// "48K" as 49152.
long long cache_bytes(const std::string& size) {
  const long long number = std::atoll(size.c_str());
  switch (size.empty() ? ' ' : size.back()) {
    case 'K': return number << 10;
    case 'M': return number << 20;
    case 'G': return number << 30;
    default: return number;
  }
}

ordered_json caches() {
  ordered_json list = ordered_json::array();
  for (int index = 0;; ++index) {
    const fs::path folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}", index);
    const std::string size = first_line(folder / "size");
    if (size.empty()) return list;
    list.push_back({{"level", std::atoi(first_line(folder / "level").c_str())},
                    {"type", first_line(folder / "type")},
                    {"bytes", cache_bytes(size)},
                    {"shared_by_cpus", first_line(folder / "shared_cpu_list")}});
  }
}

}  // namespace

nlohmann::ordered_json machine_facts() {
  ordered_json facts;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) facts[key] = value;
  };
  add("cpu", processor_name());
  if (const std::size_t cores = core_count(); cores > 0) facts["cores"] = cores;
  facts["threads"] = std::thread::hardware_concurrency();
  facts["caches"] = caches();
  facts["memory_bytes"] = static_cast<long long>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  add("os", value_in("/etc/os-release", "PRETTY_NAME", '='));
  utsname system{};
  if (uname(&system) == 0) {
    add("kernel", fmt::format("{} {}", system.sysname, system.release));
    add("architecture", system.machine);
  }
  add("compiler", kCompiler);
  add("flags", kCompilerFlags);
  add("build_type", kBuildType);
  return facts;
}

}  // namespace strata::cli
