// The wavefront sweep on a Hopper GPU. For compilers of device code alone. One block per
// multiprocessor, all resident, with specialised warps:
//
//   loader      one: copies tiles into the slots of a ring; a slot is free after the last power
//   watchers    one per power k ≥ 2: poll the signals until the inputs of a tile are complete
//   workers     teams of each power: gather x and multiply
//   signallers  one per power k < p: signal the readers of a tile that it is done
//
// so that the matrix is read from memory once, and the latency of a signal from one multiprocessor
// to another, about a microsecond, is hidden by work on other tiles. Workers wait for barriers in
// shared memory and for nothing else.
//
// With the window in shared memory the ring holds whole tiles: they cross the L2 cache once, and
// there is room for as many as the latencies of signals and gathers require. With the window in the
// L2 cache the ring holds what comes before a tile's value data: the window is then many times as
// long, and every power reads the data from the L2.
//
// Slot s of the ring holds tile i of the block, i mod slots = s. Barriers, per slot, each with a
// phase per tile:
//
//   loaded     the tile has arrived
//   ready[k]   its inputs have power k − 1 (k ≥ 2)
//   done[k]    all warps of the team of power k have finished it
//
// Only their parity distinguishes phases, so no warp may be a phase late or early. Late: every need
// includes the tile itself one power below; so tile i + slots, whose loading waits for done[p] of
// tile i, is ready for no power before all warps of all powers have finished tile i. Early: a warp
// waits for tile i only after tile i − slots, which belonged to its team too. Lanes of a warp may
// see a barrier complete at different times: they vote before they act on it, so that none stays
// behind.
//
// The watchdog: if a watcher has waited longer than the timeout, or the host has not yet seen that
// another launch did, the barrier given_up completes, and every warp that waits for any other
// leaves. Nothing is released that is not ready, for then warps could be late. The loader stays
// until its copies have arrived: they would write into the memory of another block.
//
// Memory order, from the warp that writes an element of y_{k−1} to the warp that reads it:
//
//   worker      store of the element; done[k−1].arrive (release, block)
//   signaller   done[k−1].wait (acquire, block); fence (gpu); relaxed store of the signal
//   watcher     load of the signal (acquire, gpu); ready[k].arrive (release, block)
//   worker      ready[k].wait (acquire, block); plain load
#pragma once

#include <cstdint>
#include <type_traits>

#include "strata/execute/gpu/internal/hopper.hpp"
#include "strata/execute/gpu/ring.hpp"
#include "strata/execute/gpu/sweep_arguments.hpp"
#include "strata/execute/gpu/tile_slice.hpp"

namespace strata::gpu::hopper {

inline constexpr std::uint32_t kPauseBetweenPolls = 500;  // nanoseconds

template <bool encoded, WindowPlacement placement, int height, int ahead, class T>
class SweepBlock {
 public:
  __device__ __forceinline__ SweepBlock(const SweepArguments<T>& arguments, const Ring& ring)
      : a_(arguments), shape_(ring) {
    ring_ = thread_.template shared<std::byte>();
    barriers_ = reinterpret_cast<Barrier*>(ring_ + std::uint64_t{ring.slot_bytes} * ring.slots);
    seen_ = reinterpret_cast<std::int32_t*>(barriers_ + ring.barriers(arguments.power));
    given_up_ = reinterpret_cast<Barrier*>(seen_ + (arguments.power - 1) * arguments.mailboxes);
    if constexpr (encoded) {
      near_table_ = reinterpret_cast<T*>(reinterpret_cast<std::byte*>(given_up_) + kWayOutBytes);
    }
    tiles_ = tiles_of(thread_, a_);
  }

  __device__ __forceinline__ void run() {
    prepare();
    const int warp = thread_.warp();
    const int p = a_.power;
    if (warp == 0) {
      load();
    } else if (warp < p) {
      watch(warp + 1);
    } else if (warp < 2 * p - 1) {
      signal(warp - p + 1);
    } else {
      const int team = (warp - (2 * p - 1)) / shape_.team_warps;
      work(team / shape_.teams + 1, team % shape_.teams, (warp - (2 * p - 1)) % shape_.team_warps);
    }
    clear_signals(thread_, a_);
  }

 private:
  static constexpr bool kWhole = placement == WindowPlacement::shared_memory;

  __device__ __forceinline__ Barrier& loaded(int slot) { return barriers_[slot]; }
  __device__ __forceinline__ Barrier& ready(int k, int slot) {
    return barriers_[(k - 1) * shape_.slots + slot];
  }
  __device__ __forceinline__ Barrier& done(int k, int slot) {
    return barriers_[(a_.power + k - 1) * shape_.slots + slot];
  }
  // A place in the ring that advances tile by tile.
  struct Cursor {
    int slot = 0;
    std::uint32_t parity = 0;
    __device__ __forceinline__ void advance(int tiles, int slots) {
      slot += tiles;
      if (slot >= slots) {
        slot -= slots;
        parity ^= 1;
      }
    }
  };

  // One thread: makes all warps of the block leave. A barrier that completes twice has its first
  // parity again, so only the first call arrives.
  __device__ __forceinline__ void give_up() {
    auto* said = reinterpret_cast<std::uint32_t*>(given_up_ + 1);
    if (atomicExch(said, 1U) == 0) given_up_->arrive();
  }
  // Waits for the barrier. False, for all lanes, if the block gives up first.
  __device__ __forceinline__ bool wait(const Barrier& barrier, std::uint32_t parity) {
    return thread_.all(lane_waits(barrier, parity));
  }
  // The same for one lane.
  __device__ __forceinline__ bool lane_waits(const Barrier& barrier, std::uint32_t parity) {
    while (!barrier.completed_soon(parity)) {
      if (given_up_->completed(0)) return false;
    }
    return true;
  }

  __device__ __forceinline__ void prepare() {
    if (thread_.index() == 0) {
      const std::uint32_t stuck = thread_.load_flag(&a_.control->stuck);
      given_up_->init(1);
      *reinterpret_cast<std::uint32_t*>(given_up_ + 1) = 0;
      if constexpr (!encoded) init_barriers(0, 1);
      publish_barriers();
      if (stuck != 0) give_up();
    }
    if constexpr (encoded) {
      // So many small tiles fit that one thread would take microseconds.
      init_barriers(thread_.index(), thread_.size());
      publish_barriers();
      load_near_table(thread_, a_, near_table_);
    }
    thread_.sync_block();
  }
  // Of every so manyth slot from the first on.
  __device__ __forceinline__ void init_barriers(int first, int stride) {
    for (int slot = first; slot < shape_.slots; slot += stride) {
      loaded(slot).init(1);
      for (int k = 2; k <= a_.power; ++k) ready(k, slot).init(1);
      for (int k = 1; k <= a_.power; ++k) done(k, slot).init(shape_.team_warps);
    }
  }

  __device__ __forceinline__ std::byte* slot_at(int slot) {
    return ring_ + static_cast<std::uint64_t>(slot) * shape_.slot_bytes;
  }
  __device__ __forceinline__ const TileRecord& tile_in(int slot) {
    return *reinterpret_cast<const TileRecord*>(slot_at(slot));
  }

  // Places of tiles are read some tiles ahead, one per lane: each lane loads its own tiles.
  __device__ __forceinline__ void load() {
    const int lane = thread_.lane();
    const std::uint64_t policy = evict_first_policy();
    Cursor at;
    RecordPlace mine = place(lane);
    for (int first = 0; first < tiles_; first += NativeThread::warp_size) {
      const RecordPlace next = place(first + NativeThread::warp_size + lane);
      const int count = min(NativeThread::warp_size, tiles_ - first);
      for (int j = 0; j < count; ++j, at.advance(1, shape_.slots)) {
        bool go_on = true;
        if (lane == j) {
          // The slot's last tile had the other parity.
          go_on = first + j < shape_.slots || lane_waits(done(a_.power, at.slot), at.parity ^ 1);
          if (go_on) load(at, mine, policy);
        }
        if (!thread_.all(go_on)) return await_copies(first + j, at);
      }
      mine = next;
    }
  }
  __device__ __forceinline__ void load(const Cursor& at, const RecordPlace& place,
                                       std::uint64_t policy) {
    const std::byte* record = a_.records + place.begin * kRecordUnit;
    const std::uint32_t bytes = kWhole ? place.bytes : place.values;
    loaded(at.slot).arrive_expecting(bytes);
    copy_bulk(slot_at(at.slot), record, bytes, loaded(at.slot), policy);
    if (!kWhole && place.bytes > bytes) prefetch_bulk(record + bytes, place.bytes - bytes);
  }
  // Of all tiles that are in the ring, when the next one would be tile `next`.
  __device__ __forceinline__ void await_copies(int next, Cursor at) {
    for (int i = max(next - shape_.slots, 0); i < next; ++i) {
      // Slots before the cursor hold tiles of its round, the others those of the round before.
      const int slot = i % shape_.slots;
      const std::uint32_t parity = slot < at.slot ? at.parity : at.parity ^ 1;
      while (!loaded(slot).completed_soon(parity)) {
      }
    }
  }
  __device__ __forceinline__ RecordPlace place(int i) {
    return i < tiles_ ? place_of(thread_, a_, i) : RecordPlace{};
  }

  // A signal takes a microsecond to arrive, so every poll reads all mailboxes, and frees all tiles
  // it can. Each poll empties the first-level cache, in which workers find most of x, so there are
  // pauses between polls.
  __device__ __forceinline__ void watch(int k) {
    const int lane = thread_.lane();
    const auto* signals =
        reinterpret_cast<const uint4*>(signals_for(thread_, a_, k - 1, thread_.block()));
    std::int32_t* seen = seen_ + (k - 2) * a_.mailboxes;
    Waiting waiting;
    Cursor at;
    const auto may_start = [&](int i) {
      return i < tiles_ && thread_.all(loaded(at.slot).completed(at.parity)) &&
             inputs_done(tile_in(at.slot), seen);
    };
    for (int i = 0, poll = 1; i < tiles_; ++poll) {
      for (int four = lane; four < a_.mailboxes / 4; four += NativeThread::warp_size) {
        reinterpret_cast<uint4*>(seen)[four] = load_acquire(signals + four);
      }
      thread_.sync_warp();
      for (; may_start(i); ++i, at.advance(1, shape_.slots), poll = 0, waiting = {}) {
        if (lane == 0) ready(k, at.slot).arrive();
      }
      if (poll > 0 && poll % kPollsPerClockRead == 0) {
        if (lane == 0) waiting = wait_longer(thread_, a_.control, waiting, a_.timeout_ns);
        if (thread_.any(lane == 0 && waiting.given_up)) {
          if (lane == 0) give_up();
          return;
        }
      }
      thread_.nap(kPauseBetweenPolls);
      thread_.sync_warp();
    }
  }

  __device__ __forceinline__ bool inputs_done(const TileRecord& tile, const std::int32_t* seen) {
    const RecordNeed* needs = tile.need_list();
    bool done = true;
    for (int n = thread_.lane(); n < tile.needs; n += NativeThread::warp_size) {
      done = done && seen[needs[n].mailbox] >= needs[n].tiles;
    }
    return thread_.all(done);
  }

  __device__ __forceinline__ void signal(int k) {
    Cursor at;
    for (int i = 0; i < tiles_;) {
      if (!wait(done(k, at.slot), at.parity)) return;
      int tiles = 1;
      for (Cursor next = at; i + tiles < tiles_; ++tiles) {
        next.advance(1, shape_.slots);
        if (!thread_.all(done(k, next.slot).completed(next.parity))) break;
      }
      // One fence, which takes a microsecond, for all tiles that are done by now.
      thread_.fence();
      for (; tiles > 0; --tiles, at.advance(1, shape_.slots)) {
        // It has arrived long since, but other warps waited for that.
        if (!wait(loaded(at.slot), at.parity)) return;
        signal_readers(thread_, a_, tile_in(at.slot), k, ++i);
      }
    }
  }

  __device__ __forceinline__ void work(int k, int team, int warp) {
    using Loads = std::conditional_t<kWhole, FromCache, FromL2>;
    const StepArguments<T> step = step_of(a_, k);
    Cursor at{team, 0};
    for (int i = team; i < tiles_; i += shape_.teams, at.advance(shape_.teams, shape_.slots)) {
      if (k > 1 && !wait(ready(k, at.slot), at.parity)) return;
      if (!wait(loaded(at.slot), at.parity)) return;
      stress(thread_, a_, i, k);
      const TileRecord& tile = tile_in(at.slot);
      const auto* bytes = kWhole ? reinterpret_cast<const std::byte*>(&tile)
                                 : a_.records + tile.place * kRecordUnit;
      for (int s = warp; s < tile.slices; s += shape_.team_warps) {
        tile_slice<encoded, Loads, height, 1, ahead>(thread_, a_, tile, s, bytes, near_table_, step,
                                                     k);
      }
      thread_.sync_warp();
      if (thread_.lane() == 0) done(k, at.slot).arrive();
    }
  }

  NativeThread thread_;
  const SweepArguments<T>& a_;
  const Ring& shape_;
  std::byte* ring_;
  std::int32_t* seen_;
  Barrier* barriers_;
  Barrier* given_up_;  // and behind it whether a thread has arrived
  T* near_table_ = nullptr;
  int tiles_;
};

}  // namespace strata::gpu::hopper
