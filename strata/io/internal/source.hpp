// Where the bytes of a file come from: one after the other, in as little memory as asked for.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace strata::detail {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the buffer and returns how many bytes it wrote: fewer than asked for only at the end.
  // Throws FileError.
  virtual std::size_t read(std::span<char> buffer) = 0;
  // How much of the input has been read, as far as that is known: 0 … 1.
  virtual double fraction() const = 0;
};

// The bytes of a file as they are. Throws FileError when it cannot be opened or is a directory.
std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path);

// A descriptor of the file that closes on exec, and that the caller closes. Throws FileError.
int open_for_reading(const std::filesystem::path& path);

// Borrows the bytes.
std::unique_ptr<ByteSource> from_memory(std::span<const char> bytes);

// What the bytes say when they start as gzip does, with any number of members; otherwise the bytes
// themselves. `name` stands in front of errors.
std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> bytes, std::string name);

}  // namespace strata::detail
