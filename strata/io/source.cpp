#include "strata/io/internal/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "strata/base/error.hpp"
#include "strata/io/internal/descriptor.hpp"

namespace strata::detail {

namespace {

[[noreturn]] void throw_unreadable(const std::string& name, int error) {
  throw FileError(name, "cannot be read: " + std::generic_category().message(error));
}

// Reads instead of mapping: a file that shrinks meanwhile gives an error and not a signal, pipes
// work, and the pages of the file do not count as memory of the process.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::filesystem::path& path)
      : name_(path.string()), descriptor_(open_for_reading(path)) {
    struct stat status{};
    if (::fstat(descriptor_, &status) != 0) close_and_fail(errno);
    if (S_ISDIR(status.st_mode)) close_and_fail(EISDIR);
    size_ = static_cast<double>(status.st_size);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override { ::close(descriptor_); }

  std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      const ssize_t count = ::read(descriptor_, buffer.data() + filled, buffer.size() - filled);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(errno);
      if (count == 0) break;
      filled += static_cast<std::size_t>(count);
    }
    done_ += static_cast<double>(filled);
    return filled;
  }

  double fraction() const override { return size_ > 0 ? std::min(done_ / size_, 1.0) : 0.0; }

 private:
  [[noreturn]] void fail(int error) const { throw_unreadable(name_, error); }
  [[noreturn]] void close_and_fail(int error) const {
    ::close(descriptor_);
    fail(error);
  }

  std::string name_;
  int descriptor_;
  double size_ = 0;
  double done_ = 0;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const char> bytes) : rest_(bytes), size_(bytes.size()) {}

  std::size_t read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), rest_.size());
    std::copy_n(rest_.begin(), count, buffer.begin());
    rest_ = rest_.subspan(count);
    return count;
  }

  double fraction() const override {
    return size_ == 0 ? 1.0 : 1.0 - static_cast<double>(rest_.size()) / static_cast<double>(size_);
  }

 private:
  std::span<const char> rest_;
  std::size_t size_;
};

}  // namespace

int open_for_reading(const std::filesystem::path& path) {
  const auto own = own_descriptor(path);
  const int descriptor = own ? duplicate(*own) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw_unreadable(path.string(), errno);
  return descriptor;
}

std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path) {
  return std::make_unique<FileSource>(path);
}

std::unique_ptr<ByteSource> from_memory(std::span<const char> bytes) {
  return std::make_unique<MemorySource>(bytes);
}

}  // namespace strata::detail
