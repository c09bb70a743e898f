#include "strata/io/internal/seekable_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "strata/base/error.hpp"

namespace strata::detail {

namespace {

// Asked before it is opened, which for a pipe would wait for its other end.
const std::filesystem::path& require_regular(const std::filesystem::path& path) {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw FileError(path.string(), "cannot be read: it is no regular file, and has no parts");
  }
  return path;
}

}  // namespace

SeekableFile::SeekableFile(const std::filesystem::path& path)
    : name_(path.string()), descriptor_(open_for_reading(require_regular(path))) {
  struct stat status{};
  if (::fstat(descriptor_, &status) == 0) {
    size_ = status.st_size;
    return;
  }
  const int error = errno;
  ::close(descriptor_);
  throw FileError(name_, "cannot be read: " + std::generic_category().message(error));
}

SeekableFile::~SeekableFile() {
  ::close(descriptor_);
}

void SeekableFile::read_at(std::int64_t offset, std::span<char> buffer) const {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t count = ::pread(descriptor_, buffer.data() + filled, buffer.size() - filled,
                                  offset + static_cast<std::int64_t>(filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw FileError(name_, "cannot be read: " + std::generic_category().message(errno));
    }
    if (count == 0) throw FileError(name_, "has become shorter while it was read");
    filled += static_cast<std::size_t>(count);
  }
}

std::size_t RangeSource::read(std::span<char> buffer) {
  const auto left = static_cast<std::size_t>(end_ - position_);
  const std::size_t count = std::min(buffer.size(), left);
  file_.read_at(position_, buffer.first(count));
  position_ += static_cast<std::int64_t>(count);
  return count;
}

}  // namespace strata::detail
