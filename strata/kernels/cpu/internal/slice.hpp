// Slices on the CPU: one vector at a time with a lane per row, several vectors row by row. Rows
// side by side of a format that is stored entry by entry of all rows (ELL, DIA) are a slice too, of
// which a part is run at a time. How an entry finds its columns is a parameter, so that these, SELL
// and every encoding of packed SELL share the code:
//
//   columns.factors<lanes>(x, entry, lane)  x[column of the entry] in so many lanes from one on
//   columns.at(entry, lane)                 that column
//   columns.from(lane)                      the same of the lanes from one on
//
// Padding is multiplied like any entry. It has the value 0, so this changes nothing unless its x is
// not finite; sums that come out not finite are made again without padding. What is needed for
// that, and for rows that are sorted, is a question to the format:
//
//   rows.sorted(), rows.row_at(slot)        which row a slot holds
//   rows.sum_entries(slice, lane, x, count, sums)   the lane's sums without padding, out of line
#pragma once

#include <cstddef>
#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/kernels/cpu/internal/lanes.hpp"
#include "strata/kernels/cpu/internal/numbers.hpp"
#include "strata/kernels/cpu/step_arguments.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

template <Value V>
struct Slice {
  const V* values;  // entry e of lane l at e·height + l
  Offset width;     // entries per lane
  Offset height;    // lanes, or more: the distance from one entry of a lane to the next
  Offset first_slot;
  Offset rows;  // of the lanes so many hold a row
};

// Columns as they are stored in the slice, like its values.
template <class IndexType>
struct IndexColumns {
  const IndexType* columns;
  Offset height;

  Offset at(Offset entry, Offset lane) const { return columns[entry * height + lane]; }
  template <int lanes, Value V>
  STRATA_INLINE auto factors(const V* x, Offset entry, Offset lane) const {
    return
        typename Lanes<V, lanes>::template Gathered<IndexType>{x, columns + entry * height + lane};
  }
  IndexColumns from(Offset lane) const { return {columns + lane, height}; }
};

// Columns at the same distances from the diagonal in all lanes: one per entry.
template <class IndexType>
struct DiaColumns {
  const IndexType* offsets;
  Offset first_slot;

  Offset at(Offset entry, Offset lane) const { return first_slot + lane + offsets[entry]; }
  template <int lanes, Value V>
  STRATA_INLINE auto factors(const V* x, Offset entry, Offset lane) const {
    return typename Lanes<V, lanes>::Direct{x + first_slot + lane + offsets[entry]};
  }
  DiaColumns from(Offset lane) const { return {offsets, first_slot + lane}; }
  // Whether this entry and the next two are side by side.
  STRATA_INLINE bool three_side_by_side(Offset entry) const {
    const Offset first{offsets[entry]};
    return offsets[entry + 1] - first == 1 && offsets[entry + 2] - first == 2;
  }
};
template <class Columns>
inline constexpr bool kMayBeSideBySide = false;
template <class IndexType>
inline constexpr bool kMayBeSideBySide<DiaColumns<IndexType>> = true;

// Whether a stored value is an entry, by the words of PresenceBits.
inline bool is_present(const std::uint64_t* presence, Offset position) {
  return presence == nullptr || (presence[position / 64] >> (position % 64) & 1) != 0;
}

// Sums are in so many registers at a time. Fewer would wait for each other, more would not leave
// room for x and the values.
#ifdef __aarch64__
inline constexpr int kSumRegisters = 16;
#else
inline constexpr int kSumRegisters = 8;
#endif
template <Value V>
inline constexpr int kSums = kSumRegisters * kRegisterBytes / static_cast<int>(sizeof(V));

// How far ahead values are asked for. On x86-64 the hardware's own prefetching ends with the page,
// and gathers leave it too little room: from memory this is worth 15 % (dia) to 40 % (deltas). On
// aarch64 the hardware needs no help, and this distance, a multiple of the size of a way of the
// first-level cache, halves the speed (Neoverse V1, 27-point stencil: 5.5 GF/s, without 11.9).
#ifdef __aarch64__
inline constexpr int kAheadBytes = 0;
#else
inline constexpr int kAheadBytes = 4096;
#endif
inline constexpr int kLineBytes = 64;

// What lies so far behind `bytes` from here on.
template <int bytes>
STRATA_INLINE inline void prefetch_ahead(const void* from) {
  const char* begin = static_cast<const char*>(from) + kAheadBytes;
  for (int byte = 0; kAheadBytes > 0 && byte < bytes; byte += kLineBytes) {
    __builtin_prefetch(begin + byte);
  }
}

// Inlined, so that the sums stay in registers and are not returned through memory. Some entries of
// the slice; its height is a constant where it is the number of lanes.
struct EntryRange {
  Offset begin;
  Offset end;
};
struct LaneRange {
  Offset begin;
  Offset end;
};

// What else is done with every entry.
struct Nothing {
  STRATA_INLINE void operator()() {}
};

template <Value V, int lanes, class Columns, class Meanwhile = Nothing>
[[gnu::always_inline]] inline void multiply_entries(const Slice<V>& slice, Offset height,
                                                    const Columns& columns, EntryRange entries,
                                                    const V* x, Lanes<V, lanes>& sums,
                                                    Meanwhile&& meanwhile = {}) {
  constexpr int kBytes = lanes * static_cast<int>(sizeof(V));
  for (Offset entry = entries.begin; entry < entries.end;) {
    const V* values = slice.values + entry * height;
    if constexpr (kMayBeSideBySide<Columns> && Lanes<V, lanes>::kSharesLoads) {
      if (entry + 3 <= entries.end && columns.three_side_by_side(entry)) {
        for (int e = 0; e < 3; ++e) {
          prefetch_ahead<kBytes>(values + e * height);
          meanwhile();
        }
        sums.add_three(values, height, x + columns.at(entry + 1, 0));
        entry += 3;
        continue;
      }
    }
    prefetch_ahead<kBytes>(values);
    meanwhile();
    sums.multiply_add(values, columns.template factors<lanes>(x, entry, 0));
    ++entry;
  }
}
template <Value V, int height, class Columns, class Meanwhile = Nothing>
[[gnu::always_inline]] inline void multiply(const Slice<V>& slice, const Columns& columns,
                                            const V* x, Lanes<V, height>& sums,
                                            Meanwhile&& meanwhile = {}) {
  multiply_entries(slice, height, columns, {0, slice.width}, x, sums, meanwhile);
}
// Those that the slice has of these entries; false if it has no others behind them.
template <Value V, int lanes, class Columns>
[[gnu::always_inline]] inline bool multiply_some(const Slice<V>& slice, const Columns& columns,
                                                 EntryRange entries, const V* x,
                                                 Lanes<V, lanes>& sums) {
  const bool more = entries.end < slice.width;
  if (!more) entries.end = slice.width;
  multiply_entries(slice, slice.height, columns, entries, x, sums);
  return more;
}

// out for elements of the vectors that lie side by side, from the first on.
template <class AnyStep, Value V, int lanes>
STRATA_INLINE inline void finish_lanes(const AnyStep& step, const StepVectors<V>& vectors,
                                       Offset first, Lanes<V, lanes>& sums) {
  using Direct = typename Lanes<V, lanes>::Direct;
  if (step.shifted) sums.add_scaled(step.minus_shift, Direct{vectors.x + first});
  if (step.scaled) sums.scale(step.alpha);
  if (step.previous) sums.add_scaled(step.beta, Direct{vectors.previous + first});
  sums.store(vectors.out + first);
}

// out for any other elements [begin, end) of a slice, whose sums may contain what padding let
// through. Each sum is judged by itself: its bits do not depend on its neighbours.
template <Value V, class Rows>
[[gnu::noinline]] void finish_one_by_one(const Step<V>& step, const StepVectors<V>& vectors,
                                         const Slice<V>& slice, const Rows& rows, const V* sums,
                                         Offset begin, Offset end) {
  const Offset count = vectors.count;
  for (Offset element = begin; element < end; ++element) {
    const Offset lane = element / count;
    Number<V> sum = loaded(sums + element - begin);
    if (!is_finite(sum)) {
      Number<V> entries[kMaxVectors];
      rows.sum_entries(slice, lane, vectors.x, vectors.count, entries);
      sum = entries[element % count];
    }
    finish(step, vectors, rows.row_at(slice.first_slot + lane) * count + element % count, sum);
  }
}

// out from the sums of a slice, or of so many elements from one on: one per lane and vector.
// Without padding there is nothing that it could let through.
enum class Padding { none, maybe };
template <Padding padding = Padding::maybe, class AnyStep, Value V, int lanes, class Rows>
STRATA_INLINE inline void finish_slice(const AnyStep& step, const StepVectors<V>& vectors,
                                       const Slice<V>& slice, const Rows& rows,
                                       Lanes<V, lanes>& sums, Offset first = 0) {
  const Offset end = slice.rows * vectors.count;
  if ((padding == Padding::none || sums.all_finite()) && first + lanes <= end && !rows.sorted()) {
    finish_lanes(step, vectors, slice.first_slot * vectors.count + first, sums);
    return;
  }
  alignas(V) std::byte numbers[lanes * sizeof(V)];
  sums.store(reinterpret_cast<V*>(numbers));
  finish_one_by_one(step, vectors, slice, rows, reinterpret_cast<const V*>(numbers), first,
                    end < first + lanes ? end : first + lanes);
}

// out for one row from its sums of `count` vectors.
template <int count, Value V, class Rows>
inline void finish_row_of_slice(const Step<V>& step, const StepVectors<V>& vectors,
                                const Slice<V>& slice, const Rows& rows, Offset lane,
                                const Number<V> (&sums)[count]) {
  // A copy, so that the sums themselves have no address and stay in registers.
  Number<V> results[count];
  bool finite = true;
  for (int v = 0; v < count; ++v) {
    results[v] = sums[v];
    finite &= is_finite(sums[v]);
  }
  if (!finite) {
    Number<V> entries[count];
    rows.sum_entries(slice, lane, vectors.x, count, entries);
    for (int v = 0; v < count; ++v) {
      if (!is_finite(results[v])) results[v] = entries[v];
    }
  }
  finish_row(step, vectors, rows.row_at(slice.first_slot + lane) * count, results);
}

// One step of a slice for `count` vectors, and for one where the height has no code of its own.
template <int count, Value V, class Columns, class Rows>
[[gnu::noinline]] void step_slice_rowwise(const Step<V>& step, const StepVectors<V>& vectors,
                                          const Slice<V>& slice, const Columns& columns,
                                          const Rows& rows) {
  for (Offset lane = 0; lane < slice.rows; ++lane) {
    Number<V> sums[count] = {};
    for (Offset entry = 0; entry < slice.width; ++entry) {
      const V* from = vectors.x + columns.at(entry, lane) * count;
      const Number<V> value = loaded(slice.values + entry * slice.height + lane);
      for (int v = 0; v < count; ++v) sums[v] = multiply_add(value, loaded(from + v), sums[v]);
    }
    finish_row_of_slice(step, vectors, slice, rows, lane, sums);
  }
}

template <Value V>
inline constexpr int kFewSums = kSums<V> / 4;

// The rows [begin, end) in chunks that may begin anywhere: of as many rows as there is room for in
// registers, then of fewer, then of one.
//
//   by_lanes(Constant<lanes>(), first)      so many rows from the first on
//   by_row(row)
template <Value V, class ByLanes, class ByRow>
STRATA_INLINE inline void for_each_chunk(Offset begin, Offset end, const ByLanes& by_lanes,
                                         const ByRow& by_row) {
  Offset first = begin;
  for (; first + kSums<V> <= end; first += kSums<V>) by_lanes(Constant<kSums<V>>(), first);
  for (; first + kFewSums<V> <= end; first += kFewSums<V>) {
    by_lanes(Constant<kFewSums<V>>(), first);
  }
  for (; first < end; ++first) by_row(first);
}

// Rows of a format that is stored entry by entry of all rows. Each entry is one stream from memory
// or, with columns, two of them, and processors follow so many at a time: on a Neoverse V1 a
// product with 27 entries per row and columns takes 2.7 times as long with all of them at once as
// with 8. Some entries therefore pass a tile of rows, whose sums stay in the first-level cache,
// before the next ones do. Tiles are long because each of them begins its streams again.
inline constexpr int kStreams = 16;
inline constexpr Offset kTileBytes = 16384;

//   add(entries, first, sums)               adds these entries of the lanes; false if there are no
//                                           others behind them
//   finish(first, sums)                     then writes the results of the lanes
//   by_row(row)                             does all of a row that no lanes are left for
template <int streams_per_entry, Value V, class Add, class Finish, class ByRow>
STRATA_INLINE inline void for_each_tile(Offset begin, Offset end, const Add& add,
                                        const Finish& finish, const ByRow& by_row) {
  constexpr Offset kEntries = kStreams / streams_per_entry;
  constexpr Offset kTile = kTileBytes / static_cast<Offset>(sizeof(V));
  constexpr Offset kShortest = kFewSums<V>;
  alignas(kLineBytes) std::byte bytes[kTileBytes];
  V* const numbers = reinterpret_cast<V*>(bytes);
  bool unfinished[kTile / kShortest];
  for (Offset tile = begin; tile < end; tile += kTile) {
    const Offset tile_end = end - tile < kTile ? end : tile + kTile;
    bool more = true;
    for (Offset entry = 0; more; entry += kEntries) {
      more = false;
      for_each_chunk<V>(
          tile, tile_end,
          [&]<int lanes>(Constant<lanes>, Offset first) STRATA_INLINE {
            const Offset place = first - tile;
            if (entry > 0 && !unfinished[place / kShortest]) return;
            Lanes<V, lanes> sums;
            if (entry > 0) sums.load(numbers + place);
            const bool later = add(EntryRange{entry, entry + kEntries}, first, sums);
            unfinished[place / kShortest] = later;
            more |= later;
            if (later) {
              sums.store(numbers + place);
            } else {
              finish(first, sums);
            }
          },
          [&](Offset row) {
            if (entry == 0) by_row(row);
          });
    }
  }
}

// Calls body(Constant<height>()) if the height has code of its own.
template <class Body>
inline bool with_slice_height(Offset height, const Body& body) {
  switch (height) {
    case 4: body(Constant<4>()); return true;
    case 8: body(Constant<8>()); return true;
    case 16: body(Constant<16>()); return true;
    case 32: body(Constant<32>()); return true;
    default: return false;
  }
}

// The sums of one lane, whose entries is_entry(entry) tells from padding.
template <Value V, class Columns, class IsEntry>
void sum_lane(const Slice<V>& slice, Offset lane, const Columns& columns, const V* x, int count,
              const IsEntry& is_entry, Number<V>* sums) {
  for (int v = 0; v < count; ++v) sums[v] = {};
  for (Offset entry = 0; entry < slice.width; ++entry) {
    if (!is_entry(entry)) continue;
    const V* from = x + columns.at(entry, lane) * count;
    const Number<V> value = loaded(slice.values + entry * slice.height + lane);
    STRATA_KEEP_LOOP
    for (int v = 0; v < count; ++v) sums[v] = multiply_add(value, loaded(from + v), sums[v]);
  }
}

}  // namespace strata::cpu::STRATA_CPU_LEVEL
