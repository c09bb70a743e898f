// Bytes as a file that has a name: what is read by ranges of bytes is no stream.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <span>
#include <string>

#include "fuzz/support.hpp"

namespace strata::fuzz {

class MemoryFile {
 public:
  explicit MemoryFile(std::span<const char> bytes)
      : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
    require(descriptor_ >= 0, "there is room for a file in memory");
    require(::write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "it takes the bytes");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }

  std::filesystem::path path() const { return "/dev/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace strata::fuzz
