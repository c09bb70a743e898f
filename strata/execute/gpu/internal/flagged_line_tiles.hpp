// One power of a tile of lines (flagged_tile.hpp): lanes hold the lines of x in registers. For
// compilers of device code alone.
#pragma once

#include <cstdint>

#include "strata/execute/gpu/internal/flagged_worker.hpp"
#include "strata/kernels/gpu/products.hpp"

namespace strata::gpu::hopper {

// A row once more, without the zeros where it has no entries: its x may be infinite there. In the
// order of LineTile::multiply.
template <class Lines, class T>
__device__ __noinline__ T sum_of_entries(const FlaggedArguments<T>& a, const FlaggedTile& tile,
                                         int k, int segment, int place) {
  T sums[3] = {};
  const std::int64_t row = tile.first_row + std::int64_t{segment} * a.stride + place;
  const int columns = __popc(tile.columns);
  int number = 0;
  for (int line = 0; line < kLinesOf<Lines>; ++line) {
    for (int side = 0; side < 3; ++side) {
      if ((line_columns(tile.columns, line) >> side & 1) == 0) continue;
      const int at =
          place_of_value<T>(tile.mirrored, Lines::segments, columns, segment, number, place);
      const std::uint64_t bit =
          tile.first_value +
          static_cast<std::uint64_t>((segment * columns + number++) * kSegmentRows<T> + place);
      if ((a.presence[bit / 64] >> (bit % 64) & 1) == 0) continue;
      const T x = own_element(a.vectors[k - 1], row + tile.distances()[line] + side - 1, k > 1);
      sums[side] = multiply_add(tile.part<T>(tile.values)[at], x, sums[side]);
    }
  }
  return add(add(sums[0], sums[1]), sums[2]);
}

template <class Lines, class T>
class LineTile {
 public:
  __device__ __forceinline__ LineTile(FlaggedWorker<T>& worker, const FlaggedTile& tile)
      : worker_(worker), tile_(tile) {}

  // False, for all lanes, if the block gives up.
  __device__ __forceinline__ bool run() {
    return tile_.inner && worker_.a.aligned ? run<true>() : run<false>();
  }

 private:
  static constexpr int kElements = kChunk<T>;
  static constexpr int kSegments = Lines::segments;
  static constexpr int kChain = kSegments + 2;  // lines of a chain that are loaded
  static constexpr int kOthersFrom = Lines::chains * kChain;
  static constexpr int kHeld = kOthersFrom + Lines::others * kSegments;

  // Which line of the tile a held one is, and where: `held` counts along chains, then others.
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

  // inner: all columns are there that lines of this kind have, all of them inside of x, and chunks
  // are aligned.
  template <bool inner>
  __device__ __forceinline__ bool run() {
    Words held[kHeld];
    Words sides[kHeld];  // of the first and the last lane: the element before and behind
    STRATA_UNROLL
    for (int l = 0; l < kHeld; ++l) {
      held[l] = {};
      sides[l] = {};
    }
    if (!gather<inner>(held, sides)) return false;
    T sums[kSegments][kElements];
    if constexpr (kSegments > 1) {
      if (tile_.mirrored) {
        multiply<inner, true>(held, sides, sums);
        finish<inner>(sums);
        return true;
      }
    }
    multiply<inner, false>(held, sides, sums);
    finish<inner>(sums);
    return true;
  }

  // All that the tile needs of x. False, for all lanes, if the block gives up.
  template <bool inner>
  __device__ __forceinline__ bool gather(Words (&held)[kHeld], Words (&sides)[kHeld]) {
    if constexpr (inner && Lines::watches_last) {
      if (worker_.waits() && !watch_last()) return false;
    }
    load<inner, 0, false>(held, sides);
    if (!worker_.waits()) return true;
    typename FlaggedWorker<T>::Patience patience;
    // Those behind the rows come last: the others are looked at again when these are there.
    constexpr int last = inner && Lines::chains == 3 ? 2 * kChain : 0;
    while (true) {
      if (worker_.thread.any(is_missing<last>(held, sides))) {
        if (!worker_.go_on(patience)) return false;
        load<inner, last, true>(held, sides);
      } else if (last > 0 && worker_.thread.any(is_missing<0>(held, sides))) {
        if (!worker_.go_on(patience)) return false;
        load<inner, 0, true>(held, sides);
      } else {
        return true;
      }
    }
  }
  template <int from>
  __device__ __forceinline__ static bool is_missing(const Words (&held)[kHeld],
                                                    const Words (&sides)[kHeld]) {
    bool missing = false;
    STRATA_UNROLL
    for (int l = from; l < kHeld; ++l) {
      missing |= has_flag<T>(held[l]);
      if (has_sides(l)) missing |= has_flag<T>(sides[l]);
    }
    return missing;
  }
  // Waits for an element that is mostly there last.
  __device__ __forceinline__ bool watch_last() {
    const int distance =
        tile_.distances()[line_of(kHeld - 1)] + strides_of(kHeld - 1) * worker_.a.stride;
    const int lane = worker_.thread.lane();
    const T* from = worker_.x() + tile_.first_row + kElements * lane + distance;
    for (typename FlaggedWorker<T>::Patience patience;;) {
      Words words{};
      load_if(lane == kWarpLanes - 1, from, words);
      if (!worker_.thread.any(has_flag<T>(words))) return true;
      if (!worker_.go_on(patience)) return false;
    }
  }
  // From this line on; again: those that are missing. Distances are read for every round of loads:
  // they would take registers in between.
  template <bool inner, int from, bool again>
  __device__ __forceinline__ void load(Words (&held)[kHeld], Words (&sides)[kHeld]) {
    const FlaggedArguments<T>& a = worker_.a;
    const int lane = worker_.thread.lane();
    const Distances distances(tile_);
    const std::uint32_t columns = tile_.columns;
    const bool whole = inner || (tile_.whole && a.aligned);
    const int first = tile_.first_row + kElements * lane;
    const int beside = lane == 0 ? -1 : kElements;
    const bool ends = (lane == 0) | (lane == kWarpLanes - 1);
    const T* x = as_it_is(worker_.x() + first);
    const auto distance_of = [&](int l) {
      return distances.of[line_of(l)] + strides_of(l) * a.stride;
    };
    const auto inside = [&](int distance) {
      return inner || static_cast<unsigned>(first + distance) < static_cast<unsigned>(a.rows);
    };
    STRATA_UNROLL
    for (int l = from; l < kHeld; ++l) {
      const int distance = distance_of(l);
      if constexpr (inner && !again) {
        load_words(x + distance, held[l]);
        continue;
      }
      const bool some = again ? has_flag<T>(held[l]) : is_needed(columns, l);
      if (whole) {
        load_if(some & inside(distance), x + distance, held[l]);
      } else {
        STRATA_UNROLL
        for (int e = 0; e < kElements; ++e) {
          load_element_if(some & inside(distance + e), x, distance + e, held[l], e);
        }
      }
    }
    STRATA_UNROLL
    for (int l = from; l < kHeld; ++l) {
      if (!has_sides(l)) continue;
      const int distance = distance_of(l) + beside;
      const std::uint32_t of_line = line_columns(columns, line_of(l));
      const bool has = inner | ((of_line & (lane == 0 ? 1U : 4U)) != 0);
      const bool some = again ? has_flag<T>(sides[l]) : ends & has;
      load_element_if(some & inside(distance), x, distance, sides[l], 0);
    }
  }

  template <bool inner, bool mirrored>
  __device__ __forceinline__ void multiply(const Words (&held)[kHeld], const Words (&sides)[kHeld],
                                           T (&sums)[kSegments][kElements]) {
    const int lane = worker_.thread.lane();
    const auto* values = tile_.part<Words>(tile_.values) + lane;
    // If mirrored: what the first row of each segment has to the left.
    const int columns = __popc(inner ? Lines::usual : tile_.columns);
    const T* firsts = tile_.part<T>(tile_.values) +
                      place_of_value<T>(mirrored, kSegments, columns, 0, kColumnLeft, 0);
    STRATA_UNROLL
    for (int segment = 0; segment < kSegments; ++segment) {
      T parts[3][kElements] = {};
      STRATA_UNROLL
      for (int line = 0; line < kLinesOf<Lines>; ++line) {
        const std::uint32_t here = line_columns(inner ? Lines::usual : tile_.columns, line);
        if (here == 0) continue;
        const int l = line < 3 * Lines::chains
                          ? line / 3 * kChain + line % 3 + segment
                          : kOthersFrom + (line - 3 * Lines::chains) * kSegments + segment;
        if ((here & 1) != 0) {
          const T before =
              from_before(element<T>(held[l], kElements - 1), element<T>(sides[l], 0), lane);
          const auto x = [&](int e) { return e == 0 ? before : element<T>(held[l], e - 1); };
          if constexpr (mirrored) {
            // What the row before has to its right, behind the row's own column.
            const Words right = values[kWarpLanes];
            const T left = from_before(element<T>(right, kElements - 1), firsts[segment], lane);
            add_each([&](int e) { return e == 0 ? left : element<T>(right, e - 1); }, parts[0], x);
          } else {
            add_products(*values, parts[0], x);
            values += kWarpLanes;
          }
        }
        if ((here & 2) != 0) {
          const auto x = [&](int e) { return element<T>(held[l], e); };
          if (mirrored && line == 0 && segment > 0) {
            // What the segment before has a stride behind: its third column.
            add_products(values[(3 - 1 - mirrored_columns(columns)) * kWarpLanes], parts[1], x);
          } else {
            add_products(*values, parts[1], x);
            values += kWarpLanes;
          }
        }
        if ((here & 4) != 0) {
          const T next = from_behind(element<T>(held[l], 0), element<T>(sides[l], 0), lane);
          add_products(*values, parts[2], [&](int e) {
            return e == kElements - 1 ? next : element<T>(held[l], e + 1);
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
    add_each([&](int e) { return element<T>(here, e); }, sums, x);
  }
  template <class Value, class X>
  __device__ __forceinline__ static void add_each(const Value& value, T (&sums)[kElements],
                                                  const X& x) {
    STRATA_UNROLL
    for (int e = 0; e < kElements; ++e) sums[e] = multiply_add(value(e), x(e), sums[e]);
  }

  template <bool inner>
  __device__ __forceinline__ void finish(T (&sums)[kSegments][kElements]) {
    const FlaggedArguments<T>& a = worker_.a;
    const int lane = worker_.thread.lane();
    bool finite = true;
    STRATA_UNROLL
    for (int segment = 0; segment < kSegments; ++segment) {
      STRATA_UNROLL
      for (int e = 0; e < kElements; ++e) finite &= is_finite(sums[segment][e]);
    }
    if (!finite && a.presence != nullptr) sum_again(sums);
    const bool whole = inner || (tile_.whole && a.aligned && tile_.rows == kSegmentRows<T>);
    const std::int64_t first = tile_.first_row + kElements * lane;
    STRATA_UNROLL
    for (int segment = 0; segment < kSegments; ++segment) {
      const std::int64_t row = first + std::int64_t{segment} * a.stride;
      T* out = worker_.y() + row;
      Words results{};
      STRATA_UNROLL
      for (int e = 0; e < kElements; ++e) {
        if (!inner && kElements * lane + e >= tile_.rows) continue;
        set_element(results, e, worker_.finished(row + e, sums[segment][e]));
      }
      if (whole) {
        store_words(out, results, worker_.k < a.power);
      } else {
        STRATA_UNROLL
        for (int e = 0; e < kElements; ++e) {
          if (kElements * lane + e < tile_.rows) store_element(out + e, results, e);
        }
      }
    }
  }
  // Rows that came out not finite, without what is no entry.
  __device__ __forceinline__ void sum_again(T (&sums)[kSegments][kElements]) {
    STRATA_UNROLL
    for (int segment = 0; segment < kSegments; ++segment) {
      STRATA_UNROLL
      for (int e = 0; e < kElements; ++e) {
        const int place = kElements * worker_.thread.lane() + e;
        if (place < tile_.rows && !is_finite(sums[segment][e])) {
          sums[segment][e] = sum_of_entries<Lines>(worker_.a, tile_, worker_.k, segment, place);
        }
      }
    }
  }

  FlaggedWorker<T>& worker_;
  const FlaggedTile& tile_;
};

}  // namespace strata::gpu::hopper
