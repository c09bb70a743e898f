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

// A buffer for each of many threads, and some that are on their way. Pinning memory takes long
// (half a millisecond for each of these), but smaller ones take longer to be filled while others
// are read, and to be sent: a third of the size twice as long.
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

// Threads fill buffers with the loads in turn, and the calling one sends them off: if all of them
// did, they would wait for each other in the driver. Load l goes through buffer l mod kBuffers.
class Upload {
 public:
  Upload(const UploadPieces& pieces, std::byte* to, Buffers& buffers, Stream& stream)
      : pieces_(pieces),
        to_(to),
        buffers_(buffers),
        stream_(stream),
        cuts_(cut_into_loads(pieces)),
        loads_(std::ssize(cuts_) - 1) {}

  void run() {
    run_on_threads(loads_ > 1 ? thread_count() : 1, [&](int thread, int team) {
      try {
        thread == 0 ? send_all(team <= kFewThreads) : fill_all();
      } catch (...) {
        failed_ = true;
        throw;
      }
    });
  }

 private:
  // Of so many threads all fill buffers, also the one that sends them off.
  static constexpr int kFewThreads = 4;

  struct Turn {
    std::atomic<Offset> filled{0};  // loads that were written to the buffer
    Event copied;                   // the last of those that were sent
  };

  Turn& turn_of(Offset load) { return turns_[static_cast<std::size_t>(load % kBuffers)]; }
  bool is_filled(Offset load) {
    return turn_of(load).filled.load(std::memory_order_acquire) > load / kBuffers;
  }
  bool has_buffer(Offset load) const {
    return load < copied_.load(std::memory_order_acquire) + kBuffers;
  }

  void fill_all() {
    for (Offset load = next_++; load < loads_; load = next_++) {
      while (!has_buffer(load)) {
        if (failed_) return;
        std::this_thread::yield();
      }
      fill(load);
    }
  }
  // False if there is none left, or no buffer for it.
  bool fill_next() {
    Offset load = next_;
    if (load >= loads_ || !has_buffer(load) || !next_.compare_exchange_strong(load, load + 1)) {
      return false;
    }
    fill(load);
    return true;
  }
  void fill(Offset load) {
    pieces_.write(cuts_[static_cast<std::size_t>(load)], cuts_[static_cast<std::size_t>(load) + 1],
                  buffers_.buffer(load % kBuffers));
    turn_of(load).filled.store(load / kBuffers + 1, std::memory_order_release);
  }

  void send_all(bool fills) {
    for (Offset load = 0; load < loads_; ++load) {
      free_buffers(load);
      while (!is_filled(load)) {
        if (failed_) return;
        if (!fills || !fill_next()) std::this_thread::yield();
        free_buffers(load);
      }
      send(load);
    }
  }
  // Of those that were sent.
  void free_buffers(Offset sent) {
    Offset copied = copied_;
    while (copied < sent && turn_of(copied).copied.passed()) ++copied;
    copied_.store(copied, std::memory_order_release);
  }
  void send(Offset load) {
    const Offset begin = pieces_.begin_of(cuts_[static_cast<std::size_t>(load)]);
    const Offset end = pieces_.begin_of(cuts_[static_cast<std::size_t>(load) + 1]);
    detail::copy_to_device(buffers_.buffer(load % kBuffers), to_ + begin, end - begin, stream_);
    turn_of(load).copied.record(stream_);
  }

  const UploadPieces& pieces_;
  std::byte* to_;
  Buffers& buffers_;
  Stream& stream_;
  std::vector<Offset> cuts_;
  Offset loads_;
  std::array<Turn, kBuffers> turns_;
  std::atomic<Offset> next_{0};    // load to be filled
  std::atomic<Offset> copied_{0};  // loads whose buffers are free again
  std::atomic<bool> failed_{false};
};

}  // namespace

void upload_pieces(const UploadPieces& pieces, DeviceSpan<std::byte> to, Stream& stream) {
  const Offset bytes = pieces.begin_of(pieces.count);
  detail::require_same_size(bytes, to.size());
  if (bytes < kFewBytes) {
    Array<std::byte> all(static_cast<std::size_t>(bytes));
    if (pieces.count > 0) pieces.write(0, pieces.count, all.data());
    detail::copy_to_device(all.data(), to.data(), bytes, stream);
    stream.synchronize();
    return;
  }
  const std::lock_guard lock(Buffers::lock());
  Upload upload(pieces, to.data(), Buffers::shared(), stream);
  const Waits waits(stream);
  upload.run();
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
