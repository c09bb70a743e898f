// The wavefront sweep on a Hopper GPU in which values are their own flags. For compilers of device
// code alone. One block per multiprocessor, all resident, with specialised warps:
//
//   loader    copies tiles into the slots of a ring in shared memory; a slot is free after the last
//             power of its tile
//   clearer   writes the flag to the elements of y_1 … y_{p−1} of tiles whose turn is to come
//   workers   some for each power: each loads the x of a tile of its own until no element is the
//             flag any more, multiplies, and stores
//
// A reader learns that an element is there by reading it: nobody signals, polls for others or
// fences, and a power of a tile takes little more than one round trip to the L2 cache. x is loaded
// once per tile and line or sector (flagged_tile.hpp), past the first-level cache.
//
// Why it is right:
//
//   No result is the flag. Every number that is stored is compared with it first (doubles with
//   its upper half, which is all that readers look at) and, should it ever be equal, stored as
//   another NaN (without_flag). A flag that a caller's y_0 or y_−1 has is
//   a NaN like others: these vectors are complete before the launch and nobody waits for them.
//
//   Elements are messages. Loads and stores of y_1 … y_{p−1} are relaxed and of one size, and a
//   vector access is a set of scalar ones: a load returns the flag or the element, never anything
//   in between, and of nothing else does a reader conclude anything from an element.
//
//   Nobody reads what was there before. The clearer copies flags from shared memory, waits for the
//   copies to complete, which makes what they wrote visible to it, passes a fence of the GPU, and
//   then a relaxed store says how many of its tiles are cleared. The clearers of all blocks read
//   these counts, pass a fence, and release the least of them to their block. A worker acquires it
//   and waits until all tiles it reads, and its own, are cleared: so flags happen before all its
//   loads, which cannot return older contents, and before all its stores, which they cannot
//   overwrite.
//
//   What a vector holds at power k − 2 is read again for some bases and for sums, of rows of the
//   tile itself: they are among the elements that the tile has waited for.
//
// Slot s of the ring holds tile i of the block, i mod slots = s. Barriers, per slot, each with a
// phase per tile, of which only the parity counts:
//
//   loaded   the tile has arrived
//   done     the warps of all powers have finished it
//
// No warp is a phase late or early: a worker waits for tile i only after tile i − slots, which was
// its own, and the loader asks for a slot only after it has loaded the slot's last tile.
//
// Blocks do not wait forever, by the argument of schedule/worker_sweep.hpp: the oldest tile of all
// needs none that is not held. The watchdog is that of sweep_arguments.hpp: a worker that has
// waited too long makes all blocks give up.
#pragma once

#include <cstdint>
#include <type_traits>

#include "strata/execute/gpu/flagged_arguments.hpp"
#include "strata/execute/gpu/internal/flagged_block_tiles.hpp"
#include "strata/execute/gpu/internal/flagged_diagonal_tiles.hpp"
#include "strata/execute/gpu/internal/flagged_line_tiles.hpp"
#include "strata/execute/gpu/internal/flagged_worker.hpp"
#include "strata/execute/gpu/internal/hopper.hpp"

namespace strata::gpu::hopper {

inline constexpr std::uint32_t kAllCleared = 0x7fffffff;
// Nanoseconds between two looks of a clearer at the others': at first, and later, when it is far
// ahead; fences would be in the way of the workers.
inline constexpr std::uint32_t kFirstLooks = 100;
inline constexpr std::uint32_t kLaterLooks = 1000;

template <class Lines, int D, class T>
class FlaggedBlock {
 public:
  __device__ __forceinline__ FlaggedBlock(const FlaggedArguments<T>& arguments,
                                          const FlaggedRing& ring)
      : a_(arguments), ring_(ring) {
    tiles_in_ring_ = thread_.template shared<std::byte>();
    flags_ = reinterpret_cast<std::uint64_t*>(tiles_in_ring_ +
                                              std::uint64_t{ring.slot_bytes} * ring.slots);
    buffers_ = reinterpret_cast<std::byte*>(flags_) + kFlagBytes;
    barriers_ =
        reinterpret_cast<Barrier*>(buffers_ + std::uint64_t{ring.buffer_bytes} * ring.buffers);
    locks_ = reinterpret_cast<std::uint32_t*>(barriers_ + 2 * ring.slots);
    cleared_ = locks_ + ring.buffers;
    loading_ = cleared_ + 1;
    given_up_ = loading_ + 1;
    tiles_ = tiles_of(thread_, a_);
  }

  __device__ __forceinline__ void run() {
    prepare();
    const int warp = thread_.warp();
    if (warp == 0) {
      load();
    } else if (warp == 1) {
      if (a_.power > 1) clear();
    } else {
      work((warp - 2) / ring_.warps + 1, (warp - 2) % ring_.warps);
    }
  }

 private:
  static constexpr std::uint64_t kFlags =
      kWide<T> ? kFlag64 : std::uint64_t{kFlag32} << 32 | kFlag32;

  __device__ __forceinline__ Barrier& loaded(int slot) { return barriers_[slot]; }
  __device__ __forceinline__ Barrier& done(int slot) { return barriers_[ring_.slots + slot]; }
  __device__ __forceinline__ std::byte* slot_at(int slot) {
    return tiles_in_ring_ + static_cast<std::uint64_t>(slot) * ring_.slot_bytes;
  }

  __device__ __forceinline__ void prepare() {
    for (int slot = thread_.index(); slot < ring_.slots; slot += thread_.size()) {
      loaded(slot).init(1);
      done(slot).init(static_cast<std::uint32_t>(a_.power));
    }
    for (int b = thread_.index(); b < ring_.buffers; b += thread_.size()) locks_[b] = 0;
    if (thread_.index() == 0) {
      *cleared_ = a_.power > 1 ? 0 : kAllCleared;
      *loading_ = 0;
      *given_up_ = thread_.load_flag(&a_.control->stuck);
    }
    constexpr int words = kFlagBytes / static_cast<int>(sizeof(std::uint64_t));
    for (int w = thread_.index(); w < words; w += thread_.size()) flags_[w] = kFlags;
    publish_to_copies();
    publish_barriers();
    thread_.sync_block();
  }

  __device__ __forceinline__ bool gave_up() {
    return *static_cast<volatile std::uint32_t*>(given_up_) != 0;
  }
  // False, for all lanes, if the block gives up first.
  __device__ __forceinline__ bool wait(const Barrier& barrier, std::uint32_t parity) {
    bool arrived = true;
    while (!barrier.completed_soon(parity)) {
      if (gave_up()) {
        arrived = false;
        break;
      }
    }
    return thread_.all(arrived);
  }

  // Every lane has tiles of its own: places are read ahead, and a slot that is free is not kept
  // waiting by one that is not. A lane asks for a slot only after its last tile was loaded.
  __device__ __forceinline__ void load() {
    const std::uint64_t policy = evict_first_policy();
    int i = thread_.lane();
    FlaggedPlace mine = place(i);
    FlaggedPlace next = place(i + kWarpLanes);
    int least = 0;  // all tiles before this one were loaded
    int told = 0;
    while (least < tiles_) {
      if (thread_.any(gave_up())) return await_copies(i, least);
      const int slot = i % ring_.slots;
      if (i < tiles_ && i < least + ring_.slots &&
          (i < ring_.slots || done(slot).completed(parity_of(i) ^ 1))) {
        loaded(slot).arrive_expecting(mine.bytes);
        copy_bulk(slot_at(slot), a_.records + std::uint64_t{mine.begin} * kFlaggedUnit, mine.bytes,
                  loaded(slot), policy);
        i += kWarpLanes;
        mine = next;
        next = place(i + kWarpLanes);
      }
      least = __reduce_min_sync(0xffffffffU, i);
      if (thread_.lane() == 0 && least > told) {
        atomicExch(loading_, static_cast<std::uint32_t>(least));
        told = least;
      }
    }
  }
  // Copies that are under way would write into the memory of another block. next: of the lane.
  __device__ __forceinline__ void await_copies(int next, int least) {
    const auto was_loaded = [&](int i) { return thread_.shuffle(next, i % kWarpLanes) > i; };
    for (int i = max(least - ring_.slots, 0); i < least + ring_.slots; ++i) {
      const bool is_last = was_loaded(i) && !was_loaded(i + ring_.slots);
      while (is_last && !loaded(i % ring_.slots).completed_soon(parity_of(i))) {
      }
    }
  }
  // Of the phase of tile i in its slot.
  __device__ __forceinline__ std::uint32_t parity_of(int i) const {
    return static_cast<std::uint32_t>(i / ring_.slots) & 1;
  }
  __device__ __forceinline__ FlaggedPlace place(int i) {
    return i < tiles_ ? a_.places[thread_.block() + static_cast<std::int64_t>(i) * thread_.blocks()]
                      : FlaggedPlace{};
  }

  __device__ __forceinline__ void clear() {
    const int lane = thread_.lane();
    std::uint32_t least = 0;
    for (int next = 0; least < kAllCleared && !thread_.any(gave_up());) {
      const int loading = lane == 0 ? static_cast<int>(atomicOr(loading_, 0U)) : 0;
      const int limit = min(tiles_, thread_.shuffle(loading, 0) + a_.ahead);
      const int first = next;
      for (int i = first + lane; i < limit; i += kWarpLanes) clear_tile(i);
      next = max(first, limit);
      if (next > first || tiles_ == 0) {
        await_copies_out();
        thread_.fence();
        thread_.sync_warp();
        if (lane == 0) {
          thread_.store_flag(a_.cleared + thread_.block(),
                             next == tiles_ ? kAllCleared : static_cast<std::uint32_t>(next));
        }
      }
      std::uint32_t seen = kAllCleared;
      for (int b = lane; b < thread_.blocks(); b += kWarpLanes) {
        seen = min(seen, thread_.load_flag(a_.cleared + b));
      }
      least = __reduce_min_sync(0xffffffffU, seen);
      thread_.fence();
      thread_.sync_warp();
      if (lane == 0) {
        store_release_shared(cleared_, least);
        if (thread_.load_flag(&a_.control->stuck) != 0) give_up();
      }
      thread_.nap(least == 0 ? kFirstLooks : kLaterLooks);
    }
    // The last block leaves the counts as the next launch expects them.
    if (lane == 0) {
      thread_.fence();
      if (thread_.add_flag(a_.ended, 1) + 1 == static_cast<std::uint32_t>(thread_.blocks())) {
        for (int b = 0; b < thread_.blocks(); ++b) thread_.store_flag(a_.cleared + b, 0);
        thread_.store_flag(a_.ended, 0);
      }
    }
  }
  // Tile i of the block. A copy takes one lane, and few instructions.
  __device__ __forceinline__ void clear_tile(int i) {
    const FlaggedPlace tile = place(i);
    for (int k = 1; k < a_.power; ++k) {
      for (int segment = 0; segment < tile.segments; ++segment) {
        clear_elements(a_.vectors[k] + tile.first_row + std::int64_t{segment} * a_.stride,
                       tile.rows);
      }
    }
  }
  // Whole chunks are copied; elements before and behind them are stored.
  __device__ __forceinline__ void clear_elements(T* y, int count) {
    using Real = std::conditional_t<kWide<T>, std::uint64_t, std::uint32_t>;
    const auto begin = reinterpret_cast<std::uint64_t>(y);
    const std::uint64_t end = begin + static_cast<std::uint64_t>(count) * sizeof(T);
    const std::uint64_t last = end / kChunkBytes * kChunkBytes;
    const std::uint64_t first = min((begin + kChunkBytes - 1) / kChunkBytes * kChunkBytes, end);
    const auto store = [&](std::uint64_t from, std::uint64_t to) {
      for (; from < to; from += sizeof(Real)) {
        *reinterpret_cast<Real*>(from) = static_cast<Real>(kFlags);
      }
    };
    store(begin, first);
    for (std::uint64_t at = first; at < last; at += kFlagBytes) {
      copy_bulk_out(reinterpret_cast<void*>(at), flags_,
                    static_cast<std::uint32_t>(min(last - at, std::uint64_t{kFlagBytes})));
    }
    store(max(first, last), end);
  }

  __device__ __forceinline__ void give_up() {
    *static_cast<volatile std::uint32_t*>(given_up_) = 1;
  }

  __device__ __forceinline__ void work(int k, int warp) {
    FlaggedWorker<T> worker(a_, given_up_, k);
    const int number = (k - 1) * ring_.warps + warp;
    int slot = warp;
    std::uint32_t parity = 0;
    std::uint32_t cleared = 0;
    for (int i = warp; i < tiles_; i += ring_.warps) {
      if (!wait(loaded(slot), parity)) return;
      const auto& tile = *reinterpret_cast<const FlaggedTile*>(slot_at(slot));
      if (!wait_until_cleared(static_cast<std::uint32_t>(tile.cleared), cleared)) return;
      stress(thread_, a_, i, k);
      if (!run_tile(worker, tile, number)) return;
      thread_.sync_warp();
      if (thread_.lane() == 0) done(slot).arrive();
      slot += ring_.warps;
      if (slot >= ring_.slots) {
        slot -= ring_.slots;
        parity ^= 1;
      }
    }
  }
  // known: what the warp has seen before.
  __device__ __forceinline__ bool wait_until_cleared(std::uint32_t count, std::uint32_t& known) {
    while (known < count) {
      if (thread_.lane() == 0) known = load_acquire_shared(cleared_);
      thread_.sync_warp();
      known = thread_.shuffle(known, 0);
      if (known >= count) break;
      if (thread_.any(gave_up())) return false;
      thread_.nap(50);
    }
    return true;
  }

  __device__ __forceinline__ bool run_tile(FlaggedWorker<T>& worker, const FlaggedTile& tile,
                                           int number) {
    if constexpr (kLinesOf<Lines> > 0) {
      if (tile.kind == FlaggedKind::lines) return LineTile<Lines, T>(worker, tile).run();
    }
    BlockTile<D, T> blocks(worker, tile, __ffs(ring_.lanes) - 1);
    if (!blocks.gather()) return false;
    const int buffer = number % ring_.buffers;
    std::byte* near = buffers_ + std::uint64_t{ring_.buffer_bytes} * buffer;
    const bool is_shared = ring_.buffers < ring_.warps * a_.power;
    if (is_shared) lock(buffer);
    blocks.stage(near);
    thread_.sync_warp();
    multiply(worker, tile, blocks, reinterpret_cast<const T*>(near));
    thread_.sync_warp();
    if (is_shared && thread_.lane() == 0) store_release_shared(locks_ + buffer, 0);
    return true;
  }
  __device__ __forceinline__ void multiply(FlaggedWorker<T>& worker, const FlaggedTile& tile,
                                           BlockTile<D, T>& blocks, const T* near) {
    if constexpr (D == 1 && kLinesOf<Lines> == 0) {
      if (tile.kind == FlaggedKind::diagonals)
        return DiagonalTile<T>(worker, tile, near).multiply();
    }
    blocks.multiply(near);
  }
  // Whoever has it multiplies and waits for nothing.
  __device__ __forceinline__ void lock(int buffer) {
    if (thread_.lane() == 0) {
      while (atomicExch(locks_ + buffer, 1U) != 0) thread_.nap(20);
      __threadfence_block();
    }
    thread_.sync_warp();
  }

  NativeThread thread_;
  const FlaggedArguments<T>& a_;
  const FlaggedRing& ring_;
  std::byte* tiles_in_ring_;
  std::uint64_t* flags_;  // what elements are cleared with
  std::byte* buffers_;
  Barrier* barriers_;
  std::uint32_t* locks_;
  std::uint32_t* cleared_;   // the least count of all blocks
  std::uint32_t* loading_;   // tiles before this one were loaded
  std::uint32_t* given_up_;  // not 0: all warps leave
  int tiles_;
};

}  // namespace strata::gpu::hopper
