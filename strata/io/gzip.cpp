#include "strata/io/internal/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "strata/base/error.hpp"
#include "strata/io/internal/source.hpp"

namespace strata::detail {

namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib's way to say: largest window, gzip header and trailer
constexpr std::size_t kInputBytes = 1 << 16;

uInt zlib_size(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

Bytef* zlib_pointer(const char* bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes));
}

class DecompressedSource final : public ByteSource {
 public:
  DecompressedSource(std::unique_ptr<ByteSource> bytes, std::string name)
      : bytes_(std::move(bytes)), name_(std::move(name)) {
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) throw std::bad_alloc();
  }
  DecompressedSource(const DecompressedSource&) = delete;
  DecompressedSource& operator=(const DecompressedSource&) = delete;
  ~DecompressedSource() override { inflateEnd(&stream_); }

  std::size_t read(std::span<char> buffer) override {
    if (!started_) start();
    return compressed_ ? inflate_into(buffer) : copy_into(buffer);
  }

  double fraction() const override { return bytes_->fraction(); }

 private:
  void start() {
    started_ = true;
    refill();
    compressed_ = stream_.avail_in >= 2 && stream_.next_in[0] == 0x1f && stream_.next_in[1] == 0x8b;
  }

  void refill() {
    stream_.next_in = zlib_pointer(input_.get());
    stream_.avail_in = zlib_size(bytes_->read({input_.get(), kInputBytes}));
  }

  std::size_t copy_into(std::span<char> buffer) {
    const std::size_t waiting = std::min<std::size_t>(buffer.size(), stream_.avail_in);
    std::copy_n(stream_.next_in, waiting, buffer.begin());
    stream_.next_in += waiting;
    stream_.avail_in -= zlib_size(waiting);
    return waiting + bytes_->read(buffer.subspan(waiting));
  }

  std::size_t inflate_into(std::span<char> buffer) {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      if (stream_.avail_in == 0) refill();
      if (stream_.avail_in == 0) {
        if (inside_member_) throw FileError(name_, "the compressed data ends too early");
        break;
      }
      filled += inflate_some(buffer.subspan(filled));
    }
    return filled;
  }

  std::size_t inflate_some(std::span<char> buffer) {
    if (!inside_member_) {
      inflateReset(&stream_);
      inside_member_ = true;
    }
    stream_.next_out = zlib_pointer(buffer.data());
    stream_.avail_out = zlib_size(buffer.size());
    const uInt room = stream_.avail_out;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      inside_member_ = false;
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (result != Z_OK) {
      throw FileError(name_, std::string("the compressed data is corrupt: ") +
                                 (stream_.msg != nullptr ? stream_.msg : "unknown error"));
    }
    return room - stream_.avail_out;
  }

  std::unique_ptr<ByteSource> bytes_;
  std::string name_;
  std::unique_ptr<char[]> input_ = std::make_unique_for_overwrite<char[]>(kInputBytes);
  z_stream stream_{};
  bool started_ = false;
  bool compressed_ = false;
  bool inside_member_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> bytes, std::string name) {
  return std::make_unique<DecompressedSource>(std::move(bytes), std::move(name));
}

Array<char> gzip_member(std::span<const char> text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, deflateEnd);
  Array<char> member(deflateBound(&stream, text.size()));
  stream.next_in = zlib_pointer(text.data());
  stream.avail_in = zlib_size(text.size());
  stream.next_out = zlib_pointer(member.data());
  stream.avail_out = zlib_size(member.size());
  if (stream.avail_in != text.size() || deflate(&stream, Z_FINISH) != Z_STREAM_END) {
    throw InvalidArgument("a piece of text is too long for one gzip member");
  }
  member.resize(stream.total_out);
  return member;
}

}  // namespace strata::detail
