#include "strata/io/replace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "strata/base/error.hpp"

namespace strata {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw FileError(path.string(), std::generic_category().message(errno));
}

void write_all(int file, std::string_view contents, const std::filesystem::path& path) {
  while (!contents.empty()) {
    const ssize_t written = ::write(file, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path);
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
}

// A descriptor that is closed on every way out.
struct OpenFile {
  int descriptor;

  ~OpenFile() {
    if (descriptor >= 0) ::close(descriptor);
  }
  void close(const std::filesystem::path& path) {
    const int result = ::close(descriptor);
    descriptor = -1;
    if (result != 0) fail(path);
  }
};

// A file that is deleted unless it was moved away.
struct TemporaryFile {
  std::string name;

  ~TemporaryFile() {
    if (!name.empty()) ::unlink(name.c_str());
  }
};

void write_in_place(const std::filesystem::path& path, std::string_view contents) {
  OpenFile file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  if (file.descriptor < 0) fail(path);
  write_all(file.descriptor, contents, path);
  file.close(path);
}

}  // namespace

void replace_file(const std::filesystem::path& path, std::string_view contents) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return write_in_place(path, contents);
  }
  // A link stays a link: the file it names is what is replaced.
  std::filesystem::path target = std::filesystem::weakly_canonical(path, ignored);
  if (target.empty()) target = path;

  TemporaryFile temporary;
  std::string name = target.string() + ".XXXXXX";
  OpenFile file{::mkostemp(name.data(), O_CLOEXEC)};
  if (file.descriptor < 0) fail(path);
  temporary.name = name;
  write_all(file.descriptor, contents, path);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(file.descriptor, 0666 & ~mask) != 0) fail(path);
  file.close(path);
  if (::rename(name.c_str(), target.c_str()) != 0) fail(path);
  temporary.name.clear();
}

}  // namespace strata
