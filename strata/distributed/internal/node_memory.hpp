// NodeMemory: a block of memory per rank that other ranks of the same node write to, without
// messages. What a rank writes there and what its owner reads is a matter of counters in the block:
//
//   writer: wait until `read` is the round before; write elements; set `written` to this round
//   owner:  wait until `written` is this round; read elements; set `read` to it
//
// Blocks are files without names (memfd_create), which the others open through /proc: nothing is
// left behind, however a process ends, and each may give its own up when it likes. Where that does
// not work, as between containers, ranks send messages instead.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/distributed/communicator.hpp"

namespace strata::distributed::detail {

// A part of a block that one rank writes and the owner reads. On lines of their own: each is
// written by one of them and watched by the other.
struct SharedSlot {
  alignas(64) std::atomic<std::uint64_t> written;
  alignas(64) std::atomic<std::uint64_t> read;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Pages of this process or of another one, given up with the object.
class MappedPages {
 public:
  MappedPages() = default;
  // Of a file; none if it cannot be mapped.
  MappedPages(int file, std::size_t bytes);
  ~MappedPages();
  MappedPages(MappedPages&& other) noexcept;
  MappedPages& operator=(MappedPages&& other) noexcept;

  std::byte* data() const { return data_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// The block of another rank.
struct RemoteBlock {
  MappedPages pages;  // none if it cannot be reached
  SharedSlot* slot = nullptr;
  std::byte* elements = nullptr;
  std::uint64_t place = 0;          // as its owner says
  std::uint64_t element_bytes = 0;  // of all elements of the block
};

class NodeMemory {
 public:
  // A rank that writes into the block here.
  struct Writer {
    int rank = 0;
    std::uint64_t place = 0;  // of what it writes, as it shall be told
  };

  // Collective. A block with `bytes` for elements, for these writers, all on this node, and the
  // blocks of `targets`, whom this rank writes to, and who name it among their writers.
  NodeMemory(const Communicator& ranks, std::size_t bytes, std::span<const Writer> writers,
             std::span<const int> targets);

  // Elements of the own block; null if there is none: without writers, or without such memory.
  std::byte* elements() const { return elements_; }
  // By writer: null if it sends messages.
  SharedSlot* slot(std::size_t writer) const { return slots_[writer]; }
  // By target: without pages if it gets messages.
  const RemoteBlock& remote(std::size_t target) const { return remotes_[target]; }

 private:
  MappedPages own_;
  std::byte* elements_ = nullptr;
  std::vector<SharedSlot*> slots_;
  std::vector<RemoteBlock> remotes_;
};

// Returns when the counter is at least `round`. MPI goes on meanwhile, and so do ranks on the same
// core.
void wait_for(const Communicator& ranks, const std::atomic<std::uint64_t>& counter,
              std::uint64_t round);

}  // namespace strata::distributed::detail
