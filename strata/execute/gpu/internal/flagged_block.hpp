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
//   Nobody reads what was there before. The clearer stores flags, passes a fence of the GPU, and
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
#include "strata/execute/gpu/internal/flagged_words.hpp"
#include "strata/execute/gpu/internal/hopper.hpp"
#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/value.hpp"

namespace strata::gpu::hopper {

inline constexpr std::uint32_t kAllCleared = 0x7fffffff;
// Nanoseconds between two looks of a clearer at the others': at first, and later, when it is far
// ahead; fences would be in the way of the workers.
inline constexpr std::uint32_t kFirstLooks = 100;
inline constexpr std::uint32_t kLaterLooks = 4000;

// Element `row` of a power that the tile has waited for; or of y_0, which nobody writes. Another
// lane has seen it, and this one will.
template <class T>
__device__ __forceinline__ T own_element(const T* vector, std::int64_t row, bool written) {
  Words words{};
  do {
    load_element_if(true, vector, row, words, 0);
  } while (written && has_flag<T>(words));
  return element<T>(words, 0);
}

// The element of power k from the row's sum of products: step.hpp's finish() with the vectors of a
// flagged sweep.
template <class T>
__device__ __forceinline__ T finished(const FlaggedArguments<T>& a, int k, std::int64_t row,
                                      T sum) {
  const T shift = a.shift[k - 1];
  if (!is_zero(shift)) {
    sum = multiply_add(negative(shift), own_element(a.vectors[k - 1], row, k > 1), sum);
  }
  T result = multiply_add(a.alpha[k - 1], sum, T{});
  const T beta = a.beta[k - 1];
  if (!is_zero(beta)) {
    const T* previous = k >= 2 ? a.vectors[k - 2] : a.before;
    result = multiply_add(beta, own_element(previous, row, k > 2), result);
  }
  return result;
}
// After the last power.
template <class T>
__device__ __forceinline__ void add_to_sum(const FlaggedArguments<T>& a, std::int64_t row, T last) {
  T total =
      a.starts ? multiply_add(a.start, own_element(a.vectors[0], row, false), T{}) : a.sum[row];
  for (int k = 1; k < a.power; ++k) {
    total = multiply_add(a.weight[k - 1], own_element(a.vectors[k], row, true), total);
  }
  a.sum[row] = multiply_add(a.weight[a.power - 1], last, total);
}

// A row of a tile of lines once more, without the zeros where it has no entries: its x may be
// infinite there. In the order of FlaggedBlock::multiply.
template <class Lines, class T>
__device__ __noinline__ T sum_of_entries(const FlaggedArguments<T>& a, const FlaggedTile& tile,
                                         int k, int segment, int place) {
  T sums[3] = {};
  const std::int64_t row = tile.first_row + std::int64_t{segment} * a.stride + place;
  int number = segment * __popc(tile.columns);
  for (int line = 0; line < kLinesOf<Lines>; ++line) {
    for (int side = 0; side < 3; ++side) {
      if ((line_columns(tile.columns, line) >> side & 1) == 0) continue;
      const std::int64_t at = std::int64_t{number++} * kSegmentRows<T> + place;
      const std::uint64_t bit = tile.first_value + static_cast<std::uint64_t>(at);
      if ((a.presence[bit / 64] >> (bit % 64) & 1) == 0) continue;
      const T x = own_element(a.vectors[k - 1], row + tile.distances()[line] + side - 1, k > 1);
      sums[side] = multiply_add(tile.part<T>(tile.values)[at], x, sums[side]);
    }
  }
  return add(add(sums[0], sums[1]), sums[2]);
}

template <class Lines, int D, class T>
class FlaggedBlock {
 public:
  __device__ __forceinline__ FlaggedBlock(const FlaggedArguments<T>& arguments,
                                          const FlaggedRing& ring)
      : a_(arguments), ring_(ring) {
    tiles_in_ring_ = thread_.template shared<std::byte>();
    buffers_ = tiles_in_ring_ + std::uint64_t{ring.slot_bytes} * ring.slots;
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
  static constexpr int kElements = kChunk<T>;
  static constexpr int kSegments = Lines::segments;
  static constexpr int kChain = kSegments + 2;  // lines of a chain that are loaded
  static constexpr int kHeld = Lines::chains * kChain + Lines::others * kSegments;

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
      if (thread_.lane() == 0) {
        *static_cast<volatile std::uint32_t*>(loading_) = static_cast<std::uint32_t>(least);
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
      const int loading = static_cast<int>(*static_cast<volatile std::uint32_t*>(loading_));
      const int limit = min(tiles_, thread_.shuffle(loading, 0) + a_.ahead);
      const int first = next;
      for (; next < limit; next += kWarpLanes) clear_tiles(next, min(kWarpLanes, limit - next));
      next = min(next, limit);
      if (next > first || tiles_ == 0) {
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
  // Tiles of the block from this one on, at most a warp's.
  __device__ __forceinline__ void clear_tiles(int first, int count) {
    const int lane = thread_.lane();
    const FlaggedPlace own = lane < count ? place(first + lane) : FlaggedPlace{};
    for (int t = 0; t < count; ++t) {
      const int row = thread_.shuffle(own.first_row, t);
      const int rows = thread_.shuffle(static_cast<int>(own.rows), t);
      const int segments = thread_.shuffle(static_cast<int>(own.segments), t);
      for (int k = 1; k < a_.power; ++k) {
        for (int segment = 0; segment < segments; ++segment) {
          T* y = a_.vectors[k] + row + std::int64_t{segment} * a_.stride;
          clear_elements(y, rows, lane);
        }
      }
    }
  }
  __device__ __forceinline__ void clear_elements(T* y, int count, int lane) {
    constexpr std::uint64_t flag = kWide<T> ? kFlag64 : std::uint64_t{kFlag32} << 32 | kFlag32;
    if (reinterpret_cast<std::uint64_t>(y) % kChunkBytes == 0 && count % kElements == 0) {
      for (int i = lane; i < count / kElements; i += kWarpLanes) {
        reinterpret_cast<ulonglong2*>(y)[i] = ulonglong2{flag, flag};
      }
      return;
    }
    using Real = std::conditional_t<kWide<T>, std::uint64_t, std::uint32_t>;
    constexpr int parts = static_cast<int>(sizeof(T) / sizeof(Real));
    for (int i = lane; i < count * parts; i += kWarpLanes) {
      reinterpret_cast<Real*>(y)[i] = static_cast<Real>(flag);
    }
  }

  __device__ __forceinline__ void give_up() {
    *static_cast<volatile std::uint32_t*>(given_up_) = 1;
  }

  __device__ __forceinline__ void work(int k, int warp) {
    const int number = (k - 1) * ring_.warps + warp;
    int slot = warp;
    std::uint32_t parity = 0;
    for (int i = warp; i < tiles_; i += ring_.warps) {
      if (!wait(loaded(slot), parity)) return;
      const auto& tile = *reinterpret_cast<const FlaggedTile*>(slot_at(slot));
      if (!wait_until_cleared(static_cast<std::uint32_t>(tile.cleared))) return;
      stress(thread_, a_, i, k);
      bool went_well = false;
      if constexpr (kHeld > 0) {
        if (tile.kind == FlaggedKind::lines) {
          went_well = lines(tile, k);
        } else {
          went_well = blocks(tile, k, number);
        }
      } else {
        went_well = blocks(tile, k, number);
      }
      if (!went_well) return;
      thread_.sync_warp();
      if (thread_.lane() == 0) done(slot).arrive();
      slot += ring_.warps;
      if (slot >= ring_.slots) {
        slot -= ring_.slots;
        parity ^= 1;
      }
    }
  }
  __device__ __forceinline__ bool wait_until_cleared(std::uint32_t count) {
    while (!thread_.all(load_acquire_shared(cleared_) >= count)) {
      if (thread_.any(gave_up())) return false;
      thread_.nap(50);
    }
    return true;
  }

  // Counts looks at elements that are not there yet. False, for all lanes, if it is time to leave.
  struct Patience {
    Waiting waiting;
    int looks = 0;
  };
  __device__ __forceinline__ bool go_on(Patience& patience) {
    if (++patience.looks % kPollsPerClockRead != 0) return true;
    if (thread_.lane() == 0) {
      patience.waiting = wait_longer(thread_, a_.control, patience.waiting, a_.timeout_ns);
      if (patience.waiting.given_up) give_up();
    }
    thread_.sync_warp();
    return !thread_.any(gave_up());
  }

  // Which line of the tile a held one is, and where: `held` counts along chains, then others.
  static constexpr int kOthersFrom = Lines::chains * kChain;
  __device__ __forceinline__ static constexpr int line_of(int held) {
    if (held >= kOthersFrom) return 3 * Lines::chains + (held - kOthersFrom) / kSegments;
    const int place = held % kChain;
    if (kSegments == 1) return 3 * (held / kChain) + place;
    return 3 * (held / kChain) + (place == 0 ? 0 : place == kChain - 1 ? 2 : 1);
  }
  __device__ __forceinline__ static constexpr bool has_sides(int held) {
    return Lines::wide(line_of(held));
  }
  // So many strides from the distance of its line.
  __device__ __forceinline__ static constexpr int strides_of(int held) {
    if (held >= kOthersFrom) return (held - kOthersFrom) % kSegments;
    const int place = held % kChain;
    return kSegments == 1 || place == 0 ? 0 : place == kChain - 1 ? kSegments - 1 : place - 1;
  }
  // Whether any segment needs it.
  __device__ __forceinline__ static bool is_needed(std::uint32_t columns, int held) {
    if (line_columns(columns, line_of(held)) != 0) return true;
    if (held >= kOthersFrom || kSegments == 1) return false;
    const int place = held % kChain;
    return place > 0 && place < kChain - 1 && (columns >> (9 * (held / kChain)) & 0x1ff) != 0;
  }

  struct Distances {
    int of[kLineSlots];

    __device__ __forceinline__ explicit Distances(const FlaggedTile& tile) {
      STRATA_UNROLL
      for (int four = 0; four < kLineSlots / 4; ++four) {
        const int4 some = reinterpret_cast<const int4*>(tile.distances())[four];
        of[4 * four] = some.x;
        of[4 * four + 1] = some.y;
        of[4 * four + 2] = some.z;
        of[4 * four + 3] = some.w;
      }
    }
  };

  __device__ __forceinline__ bool lines(const FlaggedTile& tile, int k) {
    Words held[kHeld];
    Words sides[kHeld];  // of the first and the last lane: the element before and behind
    STRATA_UNROLL
    for (int l = 0; l < kHeld; ++l) {
      held[l] = {};
      sides[l] = {};
    }
    T sums[kSegments][kElements];
    if (tile.inner && a_.aligned) {
      if (!gather<true>(tile, k, held, sides)) return false;
      multiply<true>(tile, held, sides, sums);
    } else {
      if (!gather<false>(tile, k, held, sides)) return false;
      multiply<false>(tile, held, sides, sums);
    }
    finish_lines(tile, k, sums);
    return true;
  }

  // All that a tile needs of x. inner: all columns are there that lines of this kind have, all of
  // them inside of x, and chunks are aligned. False, for all lanes, if the block gives up.
  template <bool inner>
  __device__ __forceinline__ bool gather(const FlaggedTile& tile, int k, Words (&held)[kHeld],
                                         Words (&sides)[kHeld]) {
    load_lines<inner, false>(tile, k, held, sides);
    if (k == 1) return true;
    for (Patience patience;;) {
      bool missing = false;
      STRATA_UNROLL
      for (int l = 0; l < kHeld; ++l) {
        missing = missing || has_flag<T>(held[l]) || (has_sides(l) && has_flag<T>(sides[l]));
      }
      if (!thread_.any(missing)) return true;
      if (!go_on(patience)) return false;
      load_lines<inner, true>(tile, k, held, sides);
    }
  }
  // Distances are read again for every round of loads: they would take registers in between.
  template <bool inner, bool again>
  __device__ __forceinline__ void load_lines(const FlaggedTile& tile, int k, Words (&held)[kHeld],
                                             Words (&sides)[kHeld]) {
    const int lane = thread_.lane();
    const Distances distances(tile);
    const std::uint32_t columns = tile.columns;
    const bool whole = inner || (tile.whole && a_.aligned);
    const int first = tile.first_row + kElements * lane;
    const int beside = lane == 0 ? -1 : kElements;
    const bool ends = lane == 0 || lane == kWarpLanes - 1;
    const T* x = a_.vectors[k - 1] + first;
    const auto distance_of = [&](int l) {
      return distances.of[line_of(l)] + strides_of(l) * a_.stride;
    };
    const auto inside = [&](int distance) {
      return inner || static_cast<unsigned>(first + distance) < static_cast<unsigned>(a_.rows);
    };
    STRATA_UNROLL
    for (int l = 0; l < kHeld; ++l) {
      const int distance = distance_of(l);
      if constexpr (inner && !again) {
        load_words(x + distance, held[l]);
        continue;
      }
      const bool some = again ? has_flag<T>(held[l]) : is_needed(columns, l);
      if (whole) {
        load_if(some && inside(distance), x + distance, held[l]);
      } else {
        STRATA_UNROLL
        for (int e = 0; e < kElements; ++e) {
          load_element_if(some && inside(distance + e), x, distance + e, held[l], e);
        }
      }
    }
    STRATA_UNROLL
    for (int l = 0; l < kHeld; ++l) {
      if (!has_sides(l)) continue;
      const int distance = distance_of(l) + beside;
      const std::uint32_t of_line = line_columns(columns, line_of(l));
      const bool has = inner || (lane == 0 ? of_line & 1 : of_line & 4) != 0;
      const bool some = again ? has_flag<T>(sides[l]) : ends && has;
      load_element_if(some && inside(distance), x, distance, sides[l], 0);
    }
  }

  // Whether a row's result is α times its sum, and nothing else has to be done.
  __device__ __forceinline__ bool is_plain(int k) const {
    return is_zero(a_.shift[k - 1]) && is_zero(a_.beta[k - 1]) &&
           (k < a_.power || a_.sum == nullptr);
  }

  __device__ __forceinline__ void finish_lines(const FlaggedTile& tile, int k,
                                               T (&sums)[kSegments][kElements]) {
    const int lane = thread_.lane();
    const std::int64_t first = tile.first_row + kElements * lane;
    bool finite = true;
    STRATA_UNROLL
    for (int segment = 0; segment < kSegments; ++segment) {
      STRATA_UNROLL
      for (int e = 0; e < kElements; ++e) finite = finite && is_finite(sums[segment][e]);
    }
    if (!finite && a_.presence != nullptr) sum_again(tile, k, sums);
    const T alpha = a_.alpha[k - 1];
    const bool plain = is_plain(k);
    const bool whole = tile.whole && a_.aligned && tile.rows == kSegmentRows<T>;
    STRATA_UNROLL
    for (int segment = 0; segment < kSegments; ++segment) {
      const std::int64_t row = first + std::int64_t{segment} * a_.stride;
      T* out = a_.vectors[k] + row;
      Words results{};
      if (plain) {
        STRATA_UNROLL
        for (int e = 0; e < kElements; ++e) {
          set_element(results, e, multiply_add(alpha, sums[segment][e], T{}));
        }
      } else {
        STRATA_UNROLL
        for (int e = 0; e < kElements; ++e) {
          if (kElements * lane + e >= tile.rows) continue;
          const T result = finished(a_, k, row + e, sums[segment][e]);
          set_element(results, e, result);
          if (k == a_.power && a_.sum != nullptr) add_to_sum(a_, row + e, result);
        }
      }
      if (whole) {
        store_words(out, results, k < a_.power);
      } else {
        STRATA_UNROLL
        for (int e = 0; e < kElements; ++e) {
          if (kElements * lane + e < tile.rows) store_element(out + e, results, e);
        }
      }
    }
  }
  // Rows that came out not finite, without what is no entry.
  __device__ __forceinline__ void sum_again(const FlaggedTile& tile, int k,
                                            T (&sums)[kSegments][kElements]) {
    STRATA_UNROLL
    for (int segment = 0; segment < kSegments; ++segment) {
      STRATA_UNROLL
      for (int e = 0; e < kElements; ++e) {
        const int place = kElements * thread_.lane() + e;
        if (place < tile.rows && !is_finite(sums[segment][e])) {
          sums[segment][e] = sum_of_entries<Lines>(a_, tile, k, segment, place);
        }
      }
    }
  }

  template <bool inner>
  __device__ __forceinline__ void multiply(const FlaggedTile& tile, const Words (&held)[kHeld],
                                           const Words (&sides)[kHeld],
                                           T (&sums)[kSegments][kElements]) {
    const int lane = thread_.lane();
    const auto* values = tile.part<Words>(tile.values) + lane;
    STRATA_UNROLL
    for (int segment = 0; segment < kSegments; ++segment) {
      T parts[3][kElements] = {};
      STRATA_UNROLL
      for (int line = 0; line < kLinesOf<Lines>; ++line) {
        const std::uint32_t here = line_columns(inner ? Lines::usual : tile.columns, line);
        if (here == 0) continue;
        const int l = line < 3 * Lines::chains
                          ? line / 3 * kChain + line % 3 + segment
                          : kOthersFrom + (line - 3 * Lines::chains) * kSegments + segment;
        if ((here & 1) != 0) {
          const T before =
              from_before(element<T>(held[l], kElements - 1), element<T>(sides[l], 0), lane);
          add_products(*values, parts[0],
                       [&](int e) { return e == 0 ? before : element<T>(held[l], e - 1); });
          values += kWarpLanes;
        }
        if ((here & 2) != 0) {
          add_products(*values, parts[1], [&](int e) { return element<T>(held[l], e); });
          values += kWarpLanes;
        }
        if ((here & 4) != 0) {
          const T behind = from_behind(element<T>(held[l], 0), element<T>(sides[l], 0), lane);
          add_products(*values, parts[2], [&](int e) {
            return e == kElements - 1 ? behind : element<T>(held[l], e + 1);
          });
          values += kWarpLanes;
        }
      }
      STRATA_UNROLL
      for (int e = 0; e < kElements; ++e) {
        sums[segment][e] = add(add(parts[0][e], parts[1][e]), parts[2][e]);
      }
    }
  }
  template <class X>
  __device__ __forceinline__ static void add_products(const Words& values, T (&sums)[kElements],
                                                      const X& x) {
    const Words here = values;
    STRATA_UNROLL
    for (int e = 0; e < kElements; ++e) {
      sums[e] = multiply_add(element<T>(here, e), x(e), sums[e]);
    }
  }

  // x of a tile of blocks goes by way of shared memory, where every lane finds all of it.
  __device__ __forceinline__ bool blocks(const FlaggedTile& tile, int k, int number) {
    const int lane = thread_.lane();
    const T* x = a_.vectors[k - 1];
    const bool whole = tile.whole && a_.aligned;
    const int sectors = tile.sectors;
    Words held[kChunksOfLane];
    std::int32_t from[kChunksOfLane];
    STRATA_UNROLL
    for (int c = 0; c < kChunksOfLane; ++c) {
      const int s = c * (kWarpLanes / 2) + lane / 2;
      held[c] = {};
      from[c] = s < sectors ? static_cast<std::int32_t>(tile.sector_list()[s]) * (2 * kElements) +
                                  lane % 2 * kElements
                            : -1;
    }
    const auto load_all = [&](bool again) {
      STRATA_UNROLL
      for (int c = 0; c < kChunksOfLane; ++c) {
        const bool wanted = again ? has_flag<T>(held[c]) : from[c] >= 0;
        if (whole) {
          load_if(wanted, x + from[c], held[c]);
        } else {
          STRATA_UNROLL
          for (int e = 0; e < kElements; ++e) {
            load_element_if(wanted && from[c] + e < a_.rows, x, from[c] + e, held[c], e);
          }
        }
      }
    };
    load_all(false);
    if (k > 1) {
      for (Patience patience;;) {
        bool missing = false;
        STRATA_UNROLL
        for (int c = 0; c < kChunksOfLane; ++c) missing = missing || has_flag<T>(held[c]);
        if (!thread_.any(missing)) break;
        if (!go_on(patience)) return false;
        load_all(true);
      }
    }
    const int buffer = number % ring_.buffers;
    std::byte* near = buffers_ + std::uint64_t{ring_.buffer_bytes} * buffer;
    const bool is_shared = ring_.buffers < ring_.warps * a_.power;
    if (is_shared) lock(buffer);
    STRATA_UNROLL
    for (int c = 0; c < kChunksOfLane; ++c) {
      if (from[c] >= 0) reinterpret_cast<Words*>(near)[c * kWarpLanes + lane] = held[c];
    }
    thread_.sync_warp();
    multiply_blocks(tile, k, reinterpret_cast<const T*>(near));
    thread_.sync_warp();
    if (is_shared && lane == 0) store_release_shared(locks_ + buffer, 0);
    return true;
  }
  // Whoever has it multiplies and waits for nothing.
  __device__ __forceinline__ void lock(int buffer) {
    if (thread_.lane() == 0) {
      while (atomicExch(locks_ + buffer, 1U) != 0) thread_.nap(20);
      __threadfence_block();
    }
    thread_.sync_warp();
  }

  __device__ __forceinline__ void multiply_blocks(const FlaggedTile& tile, int k, const T* near) {
    const int lane = thread_.lane();
    const int lanes = ring_.lanes;
    const int rows = tile.rows / D;
    const std::uint16_t* ends = tile.row_ends();
    const std::uint16_t* columns = tile.block_columns(rows);
    const T* values = tile.part<T>(tile.values);
    const T alpha = a_.alpha[k - 1];
    const bool plain = is_plain(k);
    const auto add_block = [&](int entry, T(&sums)[D]) {
      const T* from = near + columns[entry];
      const T* block = values + entry * (D * D);
      T here[D];
      STRATA_UNROLL
      for (int c = 0; c < D; ++c) here[c] = from[c];
      STRATA_UNROLL
      for (int r = 0; r < D; ++r) {
        STRATA_UNROLL
        for (int c = 0; c < D; ++c) sums[r] = multiply_add(block[r * D + c], here[c], sums[r]);
      }
    };
    for (int first = 0; first < rows; first += kWarpLanes / lanes) {
      const int row = first + lane / lanes;
      T sums[D] = {};
      T others[D] = {};
      if (row < rows) {
        const int end = ends[row];
        int entry = (row == 0 ? 0 : ends[row - 1]) + lane % lanes;
        for (; entry + lanes < end; entry += 2 * lanes) {
          add_block(entry, sums);
          add_block(entry + lanes, others);
        }
        if (entry < end) add_block(entry, sums);
      }
      STRATA_UNROLL
      for (int r = 0; r < D; ++r) {
        sums[r] = add(sums[r], others[r]);
        for (int half = lanes / 2; half > 0; half /= 2) {
          sums[r] = add(sums[r], shuffle_down(thread_, sums[r], half, lanes));
        }
      }
      if (row >= rows || lane % lanes != 0) continue;
      STRATA_UNROLL
      for (int r = 0; r < D; ++r) {
        const std::int64_t place = tile.first_row + std::int64_t{row} * D + r;
        const T result =
            plain ? multiply_add(alpha, sums[r], T{}) : finished(a_, k, place, sums[r]);
        Words words{};
        set_element(words, 0, result);
        store_element(a_.vectors[k] + place, words, 0);
        if (!plain && k == a_.power && a_.sum != nullptr) add_to_sum(a_, place, result);
      }
    }
  }

  NativeThread thread_;
  const FlaggedArguments<T>& a_;
  const FlaggedRing& ring_;
  std::byte* tiles_in_ring_;
  std::byte* buffers_;
  Barrier* barriers_;
  std::uint32_t* locks_;
  std::uint32_t* cleared_;   // the least count of all blocks
  std::uint32_t* loading_;   // tiles before this one were loaded
  std::uint32_t* given_up_;  // not 0: all warps leave
  int tiles_;
};

}  // namespace strata::gpu::hopper
