#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "strata/campaign/internal/descriptor.hpp"
#include "strata/campaign/internal/group_memory.hpp"

namespace strata::campaign::detail {

namespace {

// The beginning of a small file of /proc; empty if the process is gone.
std::string head_of(pid_t process, const char* name) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/%s", process, name);
  const Descriptor file(::open(path.data(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return {};
  std::array<char, 512> text{};
  const ssize_t size = ::read(file.number(), text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

// The number after `skip` words.
std::int64_t number_in(std::string_view text, int skip) {
  for (int i = 0; i < skip; ++i) text.remove_prefix(std::min(text.find(' '), text.size() - 1) + 1);
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "PID (NAME) STATE PARENT GROUP …", in which the name may have spaces and parentheses.
pid_t group_of(pid_t process) {
  const std::string text = head_of(process, "stat");
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos || end + 2 >= text.size()) return 0;
  return static_cast<pid_t>(number_in(std::string_view(text).substr(end + 2), 2));
}

}  // namespace

std::int64_t resident_bytes(pid_t process) {
  const std::string text = head_of(process, "statm");
  return text.empty() ? 0 : number_in(text, 1) * ::sysconf(_SC_PAGESIZE);
}

std::int64_t group_resident_bytes(pid_t group) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (folder == nullptr) return resident_bytes(group);
  std::int64_t bytes = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    pid_t process = 0;
    const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (problem != std::errc() || end != name.data() + name.size()) continue;
    if (group_of(process) == group) bytes += resident_bytes(process);
  }
  return bytes;
}

}  // namespace strata::campaign::detail
