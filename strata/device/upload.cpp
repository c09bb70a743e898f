#include "strata/device/upload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/device/error.hpp"
#include "strata/device/event.hpp"

namespace strata::gpu {

namespace {

// A buffer for each of many threads, and some that are on their way. Pinning memory takes long, and
// copies of this size are about as fast as larger ones.
constexpr Offset kBuffers = 24;
constexpr Offset kBufferBytes = kMostPieceBytes;
// Below so many bytes an upload takes no longer than waking the threads.
constexpr Offset kFewBytes = Offset{1} << 20;
// What is copied as it is consists of pieces of this size.
constexpr Offset kCopiedPiece = Offset{128} << 10;

// Kept as long as the process lives. Memory that is not pinned will do where none can be had.
class Buffers {
 public:
  Buffers() {
    constexpr Offset bytes = kBufferBytes * kBuffers;
    try {
      pinned_ = PinnedArray<std::byte>(bytes);
      data_ = pinned_.data();
    } catch (const DeviceError&) {
      pageable_.resize(static_cast<std::size_t>(bytes));
      data_ = pageable_.data();
    }
  }
  std::byte* buffer(Offset number) { return data_ + number * kBufferBytes; }

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

// Pieces that go together: load l is [cuts[l], cuts[l + 1]).
std::vector<Offset> cut_into_loads(const UploadPieces& pieces) {
  std::vector<Offset> cuts(1, 0);
  while (cuts.back() < pieces.count) {
    const Offset first = cuts.back();
    const Offset end = end_of_buffer(pieces, first);
    if (end == first) {
      throw InvalidArgument(fmt::format("a piece of an upload has {} bytes",
                                        pieces.begin_of(first + 1) - pieces.begin_of(first)));
    }
    cuts.push_back(end);
  }
  return cuts;
}

// Threads take the loads in turn. Load l goes through buffer l mod kBuffers, after the load that
// had it before: that was taken earlier, by a thread that waits for none that is taken later.
class Upload {
 public:
  Upload(const UploadPieces& pieces, std::byte* to, Stream& stream)
      : pieces_(pieces), to_(to), stream_(stream), cuts_(cut_into_loads(pieces)) {}

  void run(Buffers& buffers) {
    const Offset loads = std::ssize(cuts_) - 1;
    run_on_threads(loads > 1 ? thread_count() : 1, [&](int, int) {
      try {
        for (Offset load = next_++; load < loads && !failed_; load = next_++) {
          send(load, buffers.buffer(load % kBuffers));
        }
      } catch (...) {
        failed_ = true;
        throw;
      }
    });
  }

 private:
  struct Turn {
    std::atomic<Offset> sent{0};  // loads that have gone through the buffer
    Event copied;
  };

  void send(Offset load, std::byte* buffer) {
    Turn& turn = turns_[static_cast<std::size_t>(load % kBuffers)];
    while (turn.sent.load(std::memory_order_acquire) < load / kBuffers) {
      if (failed_) return;
      std::this_thread::yield();
    }
    turn.copied.synchronize();
    const Offset first = cuts_[static_cast<std::size_t>(load)];
    const Offset end = cuts_[static_cast<std::size_t>(load) + 1];
    const Offset begin_byte = pieces_.begin_of(first);
    pieces_.write(first, end, buffer);
    {
      const std::lock_guard lock(sending_);
      detail::copy_to_device(buffer, to_ + begin_byte, pieces_.begin_of(end) - begin_byte, stream_);
      turn.copied.record(stream_);
    }
    turn.sent.store(load / kBuffers + 1, std::memory_order_release);
  }

  const UploadPieces& pieces_;
  std::byte* to_;
  Stream& stream_;
  std::vector<Offset> cuts_;
  std::array<Turn, kBuffers> turns_;
  std::mutex sending_;
  std::atomic<Offset> next_{0};
  std::atomic<bool> failed_{false};
};

}  // namespace

void upload_pieces(const UploadPieces& pieces, DeviceSpan<std::byte> to, Stream& stream) {
  detail::require_same_size(pieces.begin_of(pieces.count), to.size());
  const std::lock_guard lock(Buffers::lock());
  Upload upload(pieces, to.data(), stream);
  const Waits waits(stream);
  upload.run(Buffers::shared());
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
