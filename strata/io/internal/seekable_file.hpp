// A file of which any bytes can be read: what several processes read parts of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "strata/io/internal/source.hpp"

namespace strata::detail {

class SeekableFile {
 public:
  // Throws FileError when it cannot be opened or is no regular file: a pipe has no parts.
  explicit SeekableFile(const std::filesystem::path& path);
  SeekableFile(const SeekableFile&) = delete;
  SeekableFile& operator=(const SeekableFile&) = delete;
  ~SeekableFile();

  const std::string& name() const { return name_; }
  std::int64_t size() const { return size_; }

  // Fills the buffer with the bytes from `offset` on. Throws FileError when that fails, or when the
  // file has become too short for it.
  void read_at(std::int64_t offset, std::span<char> buffer) const;

 private:
  std::string name_;
  int descriptor_;
  std::int64_t size_ = 0;
};

// Bytes [begin, end) of a file, which is borrowed.
class RangeSource final : public ByteSource {
 public:
  RangeSource(const SeekableFile& file, std::int64_t begin, std::int64_t end)
      : file_(file), begin_(begin), end_(end), position_(begin) {}

  std::size_t read(std::span<char> buffer) override;
  double fraction() const override {
    return begin_ == end_
               ? 1.0
               : static_cast<double>(position_ - begin_) / static_cast<double>(end_ - begin_);
  }

 private:
  const SeekableFile& file_;
  std::int64_t begin_;
  std::int64_t end_;
  std::int64_t position_;
};

}  // namespace strata::detail
