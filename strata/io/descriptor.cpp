#include "strata/io/internal/descriptor.hpp"

#include <fcntl.h>

#include <charconv>
#include <string>
#include <system_error>

namespace strata::detail {

namespace fs = std::filesystem;

namespace {

std::optional<int> number_of(const std::string& name) {
  int number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, problem] = std::from_chars(name.data(), end, number);
  return problem == std::errc{} && stop == end && number >= 0 ? std::optional(number)
                                                              : std::nullopt;
}

}  // namespace

std::optional<int> own_descriptor(const fs::path& path) {
  std::error_code error;
  const fs::path open_files = fs::canonical("/proc/self/fd", error);
  if (error) return std::nullopt;
  fs::path link = fs::absolute(path, error);
  for (int step = 0; step < kMostLinks && !error; ++step) {
    const fs::path folder = fs::canonical(link.parent_path(), error);
    if (error) break;
    if (folder == open_files) return number_of(link.filename().string());
    link = folder / fs::read_symlink(link, error);
  }
  return std::nullopt;
}

int duplicate(int descriptor) {
  return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

}  // namespace strata::detail
