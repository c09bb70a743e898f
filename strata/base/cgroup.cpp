#include "strata/base/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace strata {

namespace {

namespace fs = std::filesystem;

// A group's folder and the version of the interface, which names the files in it.
struct Group {
  fs::path folder;
  bool unified = false;
};

// Whether a list such as "cpu,cpuacct" has the word.
bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

// The group that /proc/self/cgroup names and all around it. A container may see its own group as
// the root of the tree, whatever the name is; folders that do not exist are skipped later.
void add_groups(std::vector<Group>& groups, const fs::path& tree, const fs::path& name,
                bool unified) {
  for (fs::path inner = name.relative_path(); !inner.empty(); inner = inner.parent_path()) {
    groups.push_back({tree / inner, unified});
  }
  groups.push_back({tree, unified});
}

// Lines are "HIERARCHY:CONTROLLERS:NAME"; the second version has no controllers there.
std::vector<Group> groups_of(const fs::path& root, const std::string& controller) {
  const fs::path trees = root / "sys/fs/cgroup";
  std::vector<Group> groups;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path name = line.substr(second + 1);
    if (controllers.empty()) {
      add_groups(groups, trees, name, true);
      add_groups(groups, trees / "unified", name, true);
    } else if (has_word(controllers, controller)) {
      add_groups(groups, trees / controllers, name, false);
      if (controllers != controller) add_groups(groups, trees / controller, name, false);
    }
  }
  return groups;
}

// Files that name a limit hold a number, or a word or a negative number where there is none.
std::optional<double> number_in(const fs::path& path, int position = 0) {
  std::ifstream file(path);
  std::string word;
  for (int i = 0; i <= position; ++i) {
    if (!(file >> word)) return std::nullopt;
  }
  char* end = nullptr;
  const double number = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || *end != '\0' || !(number >= 0)) return std::nullopt;
  return number;
}

// Quota over period.
std::optional<double> processors_of(const Group& group) {
  const auto quota = number_in(group.folder / (group.unified ? "cpu.max" : "cpu.cfs_quota_us"));
  const auto period = group.unified ? number_in(group.folder / "cpu.max", 1)
                                    : number_in(group.folder / "cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

// The first version says "none" with a number that no machine has.
constexpr double kNoMemoryLimit = 0x1p60;

std::optional<Offset> bytes_in(const fs::path& path) {
  const auto bytes = number_in(path);
  if (!bytes || *bytes >= kNoMemoryLimit) return std::nullopt;
  return static_cast<Offset>(*bytes);
}

std::optional<Offset> memory_of(const Group& group) {
  return bytes_in(group.folder / (group.unified ? "memory.max" : "memory.limit_in_bytes"));
}

std::optional<Offset> memory_used_by(const Group& group) {
  return bytes_in(group.folder / (group.unified ? "memory.current" : "memory.usage_in_bytes"));
}

}  // namespace

CgroupLimits cgroup_limits(const fs::path& root) {
  CgroupLimits limits;
  for (const Group& group : groups_of(root, "cpu")) {
    const auto processors = processors_of(group);
    if (!processors) continue;
    limits.processors =
        limits.processors > 0 ? std::min(limits.processors, *processors) : *processors;
  }
  for (const Group& group : groups_of(root, "memory")) {
    const auto bytes = memory_of(group);
    if (!bytes || *bytes == 0) continue;
    limits.memory_bytes = limits.memory_bytes > 0 ? std::min(limits.memory_bytes, *bytes) : *bytes;
  }
  return limits;
}

Offset cgroup_memory_left(const fs::path& root) {
  Offset left = std::numeric_limits<Offset>::max();
  for (const Group& group : groups_of(root, "memory")) {
    const auto limit = memory_of(group);
    const auto used = memory_used_by(group);
    if (limit && used) left = std::min(left, std::max<Offset>(*limit - *used, 0));
  }
  return left;
}

}  // namespace strata
