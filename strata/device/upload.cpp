#include "strata/device/upload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/device/error.hpp"
#include "strata/device/event.hpp"

namespace strata::gpu {

namespace {

// Two buffers are on their way while threads fill the third. Each is so large that waking the
// threads takes little beside it; pinning memory takes long, so none is larger than that.
constexpr std::size_t kBuffers = 3;
constexpr Offset kBufferBytes = Offset{4} << 20;
static_assert(kMostPieceBytes <= kBufferBytes);
// Below so many bytes an upload takes no longer than waking the threads.
constexpr Offset kFewBytes = Offset{1} << 20;
// What one thread copies at a time.
constexpr Offset kCopiedPiece = Offset{128} << 10;
// How many times a thread comes back for more of a buffer, so that all are done at the same time.
constexpr Offset kTurns = 2;

// Kept as long as the process lives. Memory that is not pinned will do where none can be had.
class Buffers {
 public:
  Buffers() {
    constexpr Offset bytes = kBufferBytes * Offset{kBuffers};
    try {
      pinned_ = PinnedArray<std::byte>(bytes);
      data_ = pinned_.data();
    } catch (const DeviceError&) {
      pageable_.resize(static_cast<std::size_t>(bytes));
      data_ = pageable_.data();
    }
  }
  std::byte* buffer(std::size_t number) { return data_ + number * std::size_t{kBufferBytes}; }

  // For the upload that has the lock.
  static Buffers& shared() {
    static Buffers buffers;
    return buffers;
  }
  static std::mutex& lock() {
    static std::mutex mutex;
    return mutex;
  }

 private:
  PinnedArray<std::byte> pinned_;
  Array<std::byte> pageable_;
  std::byte* data_ = nullptr;
};

// Whatever happens, nobody reads the buffers any more when an upload ends.
class Waits {
 public:
  explicit Waits(Stream& stream) : stream_(stream) {}
  ~Waits() {
    try {
      stream_.synchronize();
    } catch (const Error&) {
      // Of work in the stream: whoever waits for it next is told.
    }
  }
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;

 private:
  Stream& stream_;
};

// The end of the pieces from the first on that fit into a buffer.
Offset end_of_buffer(const UploadPieces& pieces, Offset first) {
  const Offset limit = pieces.begin_of(first) + kBufferBytes;
  Offset fits = first;
  for (Offset end = pieces.count; fits < end;) {
    const Offset middle = end - (end - fits) / 2;
    if (pieces.begin_of(middle) <= limit) {
      fits = middle;
    } else {
      end = middle - 1;
    }
  }
  return fits;
}

void fill(const UploadPieces& pieces, Offset first, Offset end, std::byte* to) {
  const Offset start = pieces.begin_of(first);
  const Offset grain = ceil_div<Offset>(end - first, kTurns * thread_count());
  parallel_dynamic(end - first, grain, [&](Offset begin, Offset stop) {
    pieces.write(first + begin, first + stop, to + (pieces.begin_of(first + begin) - start));
  });
}

}  // namespace

void upload_pieces(const UploadPieces& pieces, DeviceSpan<std::byte> to, Stream& stream) {
  detail::require_same_size(pieces.begin_of(pieces.count), to.size());
  const std::lock_guard lock(Buffers::lock());
  Buffers& buffers = Buffers::shared();
  std::array<Event, kBuffers> copied;
  const Waits waits(stream);
  std::size_t number = 0;
  for (Offset first = 0; first < pieces.count; number = (number + 1) % kBuffers) {
    const Offset end = end_of_buffer(pieces, first);
    const Offset begin_byte = pieces.begin_of(first);
    if (end == first) {
      throw InvalidArgument(fmt::format("a piece of an upload has {} bytes",
                                        pieces.begin_of(first + 1) - begin_byte));
    }
    copied[number].synchronize();
    fill(pieces, first, end, buffers.buffer(number));
    detail::copy_to_device(buffers.buffer(number), to.data() + begin_byte,
                           pieces.begin_of(end) - begin_byte, stream);
    copied[number].record(stream);
    first = end;
  }
  stream.synchronize();
}

void detail::upload_bytes(const void* from, void* to, Offset bytes, Stream& stream) {
  if (bytes < kFewBytes) {
    copy_to_device(from, to, bytes, stream);
    stream.synchronize();
    return;
  }
  const auto* source = static_cast<const std::byte*>(from);
  const auto begin_of = [&](Offset piece) { return std::min(piece * kCopiedPiece, bytes); };
  upload_pieces({.count = ceil_div<Offset>(bytes, kCopiedPiece),
                 .begin_of = begin_of,
                 .write =
                     [&](Offset first, Offset end, std::byte* part) {
                       std::memcpy(part, source + begin_of(first),
                                   static_cast<std::size_t>(begin_of(end) - begin_of(first)));
                     }},
                {static_cast<std::byte*>(to), bytes}, stream);
}

}  // namespace strata::gpu
