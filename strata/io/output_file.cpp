#include "strata/io/internal/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <system_error>

#include "strata/base/error.hpp"
#include "strata/io/internal/descriptor.hpp"

namespace strata::detail {

namespace fs = std::filesystem;

namespace {

constexpr int kMostNames = 100;
// Leaves room for the ending of a temporary name below the 255 bytes that file systems allow.
constexpr std::size_t kLongestStem = 180;

// The name that opening `path` for writing would create: links may lead to a file that does not
// exist yet. Empty when the links never end.
fs::path behind_links(fs::path path) {
  for (int step = 0; step < kMostLinks; ++step) {
    std::error_code not_a_link;
    const fs::path target = fs::read_symlink(path, not_a_link);
    if (not_a_link) return path;
    path = path.parent_path() / target;
  }
  return {};
}

// Unique among the running processes of this machine and the threads of this one. A file of this
// name may still be there, left behind by a process that was killed: then the time joins the name.
fs::path temporary_beside(const fs::path& target, bool with_time) {
  static std::atomic<int> counter{0};
  std::string name = fmt::format("{}.tmp-{}-{}", target.filename().string().substr(0, kLongestStem),
                                 ::getpid(), counter++);
  if (with_time) {
    name += fmt::format("-{}", std::chrono::system_clock::now().time_since_epoch().count());
  }
  return target.parent_path() / name;
}

}  // namespace

OutputFile::OutputFile(const fs::path& path) : name_(path.string()) {
  struct stat old{};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) fail(errno);
  if (exists && S_ISDIR(old.st_mode)) fail(EISDIR);
  if (const auto own = own_descriptor(path)) {
    descriptor_ = duplicate(*own);
  } else if (exists && !S_ISREG(old.st_mode)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  } else {
    target_ = behind_links(path);
    if (target_.empty()) fail(ELOOP);
    // Replacing needs no permission of the file itself, but a file without write permission is
    // meant to stay.
    if (exists && ::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0) fail(errno);
    open_temporary(exists ? S_IRUSR | S_IWUSR : 0666);
    if (exists) keep_permissions(old);
  }
  if (descriptor_ < 0) fail(errno);
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::open_temporary(mode_t mode) {
  for (int attempt = 0; attempt < kMostNames; ++attempt) {
    temporary_ = temporary_beside(target_, attempt > 0);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ >= 0 || errno != EEXIST) return;
  }
}

void OutputFile::keep_permissions(const struct stat& old) const {
  if (descriptor_ < 0) return;
  mode_t mode = old.st_mode & 07777;
  const bool owned = ::fchown(descriptor_, old.st_uid, old.st_gid) == 0;
  if (!owned && ::fchown(descriptor_, static_cast<uid_t>(-1), old.st_gid) != 0) {
    // Another group gets no more permissions than all users have.
    mode = static_cast<mode_t>((mode & ~mode_t{S_IRWXG}) | ((mode & S_IRWXO) << 3));
  }
  if (!owned) mode &= 0777;
  // File systems without permissions refuse this; then there are none to keep.
  static_cast<void>(::fchmod(descriptor_, mode));
}

void OutputFile::write(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void OutputFile::commit() {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  const bool closed = ::close(descriptor) == 0;
  if (temporary_.empty()) {
    if (!closed) fail(errno);
    return;
  }
  if (!closed || std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    fail(error);
  }
}

void OutputFile::fail(int error) const {
  throw FileError(name_, "cannot be written: " + std::generic_category().message(error));
}

}  // namespace strata::detail
