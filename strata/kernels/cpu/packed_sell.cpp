#include "strata/formats/packed_sell.hpp"

#include <type_traits>

#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/internal/level_functions.hpp"
#include "strata/kernels/cpu/internal/slice.hpp"
#include "strata/kernels/cpu/internal/slice_values.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

namespace {

// The encodings of a code block, see formats/packed_sell.hpp. Blocks are aligned for these types.
template <class T>
const T* as(const std::byte* codes) {
  return reinterpret_cast<const T*>(codes);
}

template <class Delta>
struct DeltaColumns {
  const std::int32_t* bases;
  const Delta* deltas;
  Offset first_slot;
  Offset height;

  Offset at(Offset entry, Offset lane) const {
    return first_slot + bases[entry] + deltas[entry * height + lane];
  }
  template <int lanes, Value V>
  STRATA_INLINE auto factors(const V* x, Offset entry, Offset lane) const {
    return typename Lanes<V, lanes>::template Gathered<Delta>{
        as_base(x + first_slot + bases[entry]), deltas + entry * height + lane};
  }
  DeltaColumns from(Offset lane) const { return {bases, deltas + lane, first_slot, height}; }
};

// Runs of some columns one after another, each with one delta.
template <class Delta>
struct RunColumns {
  const std::int32_t* bases;
  const Delta* deltas;
  Offset first_slot;
  Offset height;
  std::uint32_t run;
  std::uint64_t inverse = (std::uint64_t{1} << 32) / run + 1;

  // For what a slice can have: fewer than 2^29 entries, and runs of at most kLongestRun.
  Offset run_of(Offset entry) const {
    return static_cast<Offset>(static_cast<std::uint64_t>(entry) * inverse >> 32);
  }
  Offset at(Offset entry, Offset lane) const {
    const Offset own = run_of(entry);
    return first_slot + bases[own] + deltas[own * height + lane] + (entry - own * run);
  }
  template <int lanes, Value V>
  STRATA_INLINE auto factors(const V* x, Offset entry, Offset lane) const {
    const Offset own = run_of(entry);
    return typename Lanes<V, lanes>::template Gathered<Delta>{
        as_base(x + first_slot + bases[own] + (entry - own * run)), deltas + own * height + lane};
  }
  RunColumns from(Offset lane) const { return {bases, deltas + lane, first_slot, height, run}; }
};

// body(columns) with the columns of a slice in their encoding.
template <Value V, class Body>
[[gnu::always_inline]] inline void with_columns(const PackedSellView<V>& matrix,
                                                const Slice<V>& slice, const Body& body) {
  const Offset alignment = slice.height > 16 ? slice.height : 16;
  const Offset number = slice.first_slot / slice.height;
  const std::byte* codes = matrix.codes + matrix.code_offsets[number];
  const SliceEncoding encoding = matrix.encodings[number];
  const auto run = static_cast<std::uint32_t>(matrix.run_length);
  const bool runs = encoding == SliceEncoding::run8 || encoding == SliceEncoding::run16;
  const Offset bases = (runs ? slice.width / run : slice.width) * Offset{sizeof(std::int32_t)};
  const std::byte* deltas = codes + (bases + alignment - 1) / alignment * alignment;
  switch (encoding) {
    case SliceEncoding::run8:
      body(RunColumns<std::uint8_t>{as<std::int32_t>(codes), as<std::uint8_t>(deltas),
                                    slice.first_slot, slice.height, run});
      break;
    case SliceEncoding::run16:
      body(RunColumns<std::uint16_t>{as<std::int32_t>(codes), as<std::uint16_t>(deltas),
                                     slice.first_slot, slice.height, run});
      break;
    case SliceEncoding::dia:
      body(DiaColumns<std::int32_t>{as<std::int32_t>(codes), slice.first_slot});
      break;
    case SliceEncoding::delta8:
      body(DeltaColumns<std::uint8_t>{as<std::int32_t>(codes), as<std::uint8_t>(deltas),
                                      slice.first_slot, slice.height});
      break;
    case SliceEncoding::delta16:
      body(DeltaColumns<std::uint16_t>{as<std::int32_t>(codes), as<std::uint16_t>(deltas),
                                       slice.first_slot, slice.height});
      break;
    case SliceEncoding::index32:
      body(IndexColumns<std::int32_t>{as<std::int32_t>(codes), slice.height});
      break;
  }
}

// Inlined, so that the height is a constant where the caller has one.
template <Value V>
[[gnu::always_inline]] inline EncodedValues<V> values_of(const PackedSellView<V>& matrix,
                                                         const Slice<V>& slice) {
  const Offset number = slice.first_slot / slice.height;
  const Offset alignment = slice.height > 16 ? slice.height : 16;
  const auto aligned = [&](Offset bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  };
  // As value_block_begin() of packed_sell.hpp.
  constexpr Offset kSize = sizeof(std::int32_t);
  const Offset width = slice.width;
  Offset columns = 0;
  const auto by_deltas = [&](Offset bases, Offset delta_size) {
    return aligned(aligned(bases * kSize) + bases * slice.height * delta_size);
  };
  switch (matrix.encodings[number]) {
    case SliceEncoding::dia: columns = aligned(width * kSize); break;
    case SliceEncoding::run8: columns = by_deltas(width / matrix.run_length, 1); break;
    case SliceEncoding::delta8: columns = by_deltas(width, 1); break;
    case SliceEncoding::run16: columns = by_deltas(width / matrix.run_length, 2); break;
    case SliceEncoding::delta16: columns = by_deltas(width, 2); break;
    case SliceEncoding::index32: columns = aligned(width * slice.height * kSize); break;
  }
  return {matrix.value_encodings[number],
          slice.height,
          slice.width,
          matrix.codes + matrix.code_offsets[number] + columns,
          matrix.data + matrix.data_offsets[number],
          matrix.table};
}

// The slice whose first slot is given. Its values are full ones, if they are.
template <Value V>
STRATA_INLINE inline Slice<V> slice_of(const PackedSellView<V>& matrix, Offset height,
                                       Offset first) {
  const Offset number = first / height;
  const Offset entries = matrix.entry_offsets[number + 1] - matrix.entry_offsets[number];
  const Offset left = matrix.rows - first;
  return {at_bytes<V>(matrix.data, matrix.data_offsets[number]), entries / height, height, first,
          left < height ? left : height};
}

template <Value V>
struct Rows {
  const PackedSellView<V>& matrix;

  bool sorted() const {
    return matrix.row_of_slot.narrow != nullptr || matrix.row_of_slot.wide != nullptr;
  }
  Offset row_at(Offset slot) const {
    if (matrix.row_of_slot.narrow != nullptr) return matrix.row_of_slot.narrow[slot];
    return matrix.row_of_slot.wide != nullptr ? matrix.row_of_slot.wide[slot] : slot;
  }
  // Of a lane that counts from the first slot of a slice, of a part of one or of several.
  [[gnu::noinline]] void sum_entries(const Slice<V>& lanes, Offset lane, const V* x, int count,
                                     Number<V>* sums) const {
    const Offset height = matrix.slice_height;
    const Offset slot = lanes.first_slot + lane;
    const Slice<V> slice = slice_of(matrix, height, slot / height * height);
    lane = slot % height;
    const Offset first = matrix.entry_offsets[slice.first_slot / slice.height] + lane;
    const EncodedValues<V> values = values_of(matrix, slice);
    const ColumnPlaces<V> places = places_of(values);
    for (int v = 0; v < count; ++v) sums[v] = {};
    with_columns(matrix, slice, [&](const auto& columns) {
      for (Offset entry = 0; entry < slice.width; ++entry) {
        if (!is_present(matrix.presence, first + entry * slice.height)) continue;
        const V* from = x + columns.at(entry, lane) * count;
        const Number<V> value = value_at(values, places, column_of(values, entry), lane);
        STRATA_KEEP_LOOP
        for (int v = 0; v < count; ++v) sums[v] = multiply_add(value, loaded(from + v), sums[v]);
      }
    });
  }
};

// What a slice is to the kernels. All but the first and the last have columns of the kind `dia`.
enum class Kind {
  full,
  constant,  // Σ constant[j] · x[slot + offset[j]] in every slot
  plain,     // any columns but those with codes
  coded,     // codes of 8 bits
  other,
};

template <Value V>
STRATA_INLINE inline Kind kind_of(const PackedSellView<V>& matrix, const Slice<V>& slice) {
  const Offset number = slice.first_slot / slice.height;
  const ValueEncoding encoding = matrix.value_encodings[number];
  if (encoding == ValueEncoding::full) return Kind::full;
  if (matrix.encodings[number] != SliceEncoding::dia) return Kind::other;
  switch (encoding) {
    case ValueEncoding::constant: return Kind::constant;
    case ValueEncoding::masked: return Kind::plain;
    case ValueEncoding::dict8: return Kind::coded;
    case ValueEncoding::mixed:
      return has_codes(values_of(matrix, slice)) ? Kind::other : Kind::plain;
    default: return Kind::other;
  }
}

// Behind the slices of a kind that follow each other, the first of which is given.
template <int height, Value V>
STRATA_INLINE inline Offset end_of_kind(const PackedSellView<V>& matrix, Kind kind, Offset first,
                                        Offset end) {
  do {
    first += height;
  } while (first < end && kind_of(matrix, slice_of(matrix, height, first)) == kind);
  return first;
}

// Slices one after another that have the same description of this kind: as one slice, and how many
// slots it has.
template <Value V>
struct ConstantRun {
  Slice<V> slice;
  Offset slots;
  const std::int32_t* offsets;
  const V* constants;
};

// From this slice on, up to row `end`.
template <Value V>
STRATA_INLINE inline ConstantRun<V> constant_run(const PackedSellView<V>& matrix, Slice<V> slice,
                                                 Offset end) {
  const Offset number = slice.first_slot / slice.height;
  const Offset* codes = matrix.code_offsets + number;
  const Offset* entries = matrix.entry_offsets + number;
  Offset slots = slice.height;
  for (Offset next = 1; slice.first_slot + slots < end; ++next) {
    const bool equal = codes[next] == codes[0] &&
                       entries[next + 1] - entries[next] == entries[1] - entries[0] &&
                       matrix.encodings[number + next] == SliceEncoding::dia &&
                       matrix.value_encodings[number + next] == ValueEncoding::constant;
    if (!equal) break;
    slots += slice.height;
  }
  const Offset left = matrix.rows - slice.first_slot;
  slice.rows = left < slots ? left : slots;
  return {slice, slots, as<std::int32_t>(matrix.codes + codes[0]),
          at_bytes<V>(values_of(matrix, slice).block, 0)};
}

// Elements of interleaved vectors are multiplied and added alike whatever their number. So such a
// run is a run of elements, taken so many at a time.
template <int lanes, Value V>
STRATA_INLINE inline void step_elements(const PackedSellView<V>& matrix, const Step<V>& step,
                                        const StepVectors<V>& vectors, const ConstantRun<V>& run,
                                        Offset first) {
  using Direct = typename Lanes<V, lanes>::Direct;
  const Offset count = vectors.count;
  const V* x = vectors.x + run.slice.first_slot * count;
  for (; first + lanes <= run.slots * count; first += lanes) {
    Lanes<V, lanes> sums;
    for (Offset entry = 0; entry < run.slice.width; ++entry) {
      sums.add_scaled(loaded(run.constants + entry),
                      Direct{x + first + run.offsets[entry] * count});
    }
    // A copy, so that the sums themselves have no address and stay in registers.
    Lanes<V, lanes> results = sums;
    finish_slice<Padding::none>(step, vectors, run.slice, Rows<V>{matrix}, results, first);
  }
  // Slots are a multiple of 4.
  if constexpr (lanes > 4) step_elements<lanes / 2>(matrix, step, vectors, run, first);
}

template <Value V>
[[gnu::noinline]] void step_constant(const PackedSellView<V>& matrix, const Step<V>& step,
                                     const StepVectors<V>& vectors, const ConstantRun<V>& run) {
  step_elements<kSums<V>>(matrix, step, vectors, run, 0);
}

// One vector, so many lanes of a slice at a time.
template <int height, Value V>
inline constexpr int kLanes = height < kSums<V> ? height : kSums<V>;

template <int lanes, Value V, class Table, class Columns>
STRATA_INLINE inline void step_columns(const PackedSellView<V>& matrix, const Step<V>& step,
                                       const StepVectors<V>& vectors, const Slice<V>& slice,
                                       const Table& table, const Columns& columns) {
  const EncodedValues<V> values = values_of(matrix, slice);
  const ColumnPlaces<V> places = places_of(values);
  for (Offset lane = 0; lane < slice.rows; lane += lanes) {
    Lanes<V, lanes> sums;
    for (Offset entry = 0; entry < slice.width; ++entry) {
      add_column(values, places, table, column_of(values, entry), lane,
                 columns.template factors<lanes>(vectors.x, entry, lane), sums);
    }
    Lanes<V, lanes> results = sums;
    finish_slice(step, vectors, slice, Rows<V>{matrix}, results, lane);
  }
}

// Out of line, each kind with the registers to itself.
template <int height, Value V>
[[gnu::noinline]] void step_other_dia(const PackedSellView<V>& matrix, const Step<V>& step,
                                      const StepVectors<V>& vectors, const Slice<V>& slice,
                                      const CodeTables<V>& tables) {
  constexpr int lanes = kLanes<height, V>;
  const auto* offsets =
      as<std::int32_t>(matrix.codes + matrix.code_offsets[slice.first_slot / height]);
  tables.template with_fastest<lanes>([&](const auto& table) STRATA_INLINE {
    step_columns<lanes>(matrix, step, vectors, slice, table,
                        DiaColumns<std::int32_t>{offsets, slice.first_slot});
  });
}

// Of the slots of some lanes, entry by entry.
template <Value V>
[[gnu::noinline]] void decode_columns(const PackedSellView<V>& matrix, const Slice<V>& slice,
                                      EntryRange entries, LaneRange lanes, Offset* decoded) {
  with_columns(matrix, slice, [&](const auto& columns) {
    for (Offset entry = entries.begin; entry < entries.end; ++entry) {
      for (Offset lane = lanes.begin; lane < lanes.end; ++lane) {
        *decoded++ = columns.at(entry, lane);
      }
    }
  });
}

// Encoded values at any columns, which are decoded before: a kernel for every pair of encodings
// would gain little, as x is gathered, and there would be many of them.
template <int height, Value V>
[[gnu::noinline]] void step_other(const PackedSellView<V>& matrix, const Step<V>& step,
                                  const StepVectors<V>& vectors, const Slice<V>& slice) {
  constexpr int lanes = kLanes<height, V>;
  constexpr Offset kEntries = 1024 / lanes;
  alignas(64) Offset decoded[kEntries * lanes];
  const EncodedValues<V> values = values_of(matrix, slice);
  const ColumnPlaces<V> places = places_of(values);
  const SingleTable<V, 8> table(matrix.table);
  const IndexColumns<Offset> columns{decoded, lanes};
  for (Offset lane = 0; lane < slice.rows; lane += lanes) {
    Lanes<V, lanes> sums;
    for (Offset begin = 0; begin < slice.width; begin += kEntries) {
      const Offset end = begin + kEntries < slice.width ? begin + kEntries : slice.width;
      decode_columns(matrix, slice, {begin, end}, {lane, lane + lanes}, decoded);
      for (Offset entry = begin; entry < end; ++entry) {
        add_column(values, places, table, column_of(values, entry), lane,
                   columns.template factors<lanes>(vectors.x, entry - begin, 0), sums);
      }
    }
    Lanes<V, lanes> results = sums;
    finish_slice(step, vectors, slice, Rows<V>{matrix}, results, lane);
  }
}

// Upcoming data, asked for line by line over so many entries: memory would have nothing to do while
// these come from a cache.
class Upcoming {
 public:
  template <Value V>
  STRATA_INLINE Upcoming(const PackedSellView<V>& matrix, Offset entries)
      : next_(matrix.upcoming),
        lines_((matrix.upcoming_bytes + kLineBytes - 1) / kLineBytes),
        entries_(entries) {}

  STRATA_INLINE void operator()() {
    for (due_ += lines_; due_ >= entries_; due_ -= entries_) {
      __builtin_prefetch(next_, 0, 2);  // as far as the second-level cache
      next_ += kLineBytes;
    }
  }

 private:
  const std::byte* next_;
  Offset lines_;
  Offset entries_;
  Offset due_ = 0;  // after each entry, of lines · entries
};

template <int height, class AnyStep, Value V, class Meanwhile = Nothing>
[[gnu::noinline]] void step_full(const PackedSellView<V>& matrix, const AnyStep& step,
                                 StepVectors<V> vectors, Offset begin, Offset end,
                                 Meanwhile meanwhile = {}) {
  vectors.count = 1;  // as it is: a constant
  for (Offset first = begin; first < end; first += height) {
    const Slice<V> slice = slice_of(matrix, height, first);
    Lanes<V, height> sums;
    with_columns(matrix, slice, [&](const auto& columns) STRATA_INLINE {
      multiply(slice, columns, vectors.x, sums, meanwhile);
    });
    finish_slice(step, vectors, slice, Rows<V>{matrix}, sums);
  }
}

// The same, with upcoming data asked for. With all that a step may have: one more kernel is enough.
template <int height, Value V>
void step_full_and_ask(const PackedSellView<V>& matrix, const Step<V>& step,
                       const StepVectors<V>& vectors, Offset begin, Offset end) {
  const Offset slices_end = (end + height - 1) / height;
  const Offset entries =
      (matrix.entry_offsets[slices_end] - matrix.entry_offsets[begin / height]) / height;
  step_full<height>(matrix, step, vectors, begin, end, Upcoming(matrix, entries));
}

template <int height, Value V>
[[gnu::noinline]] void step_plain(const PackedSellView<V>& matrix, const Step<V>& step,
                                  const StepVectors<V>& vectors, Offset begin, Offset end) {
  for (Offset first = begin; first < end; first += height) {
    const Slice<V> slice = slice_of(matrix, height, first);
    const auto* offsets = as<std::int32_t>(matrix.codes + matrix.code_offsets[first / height]);
    step_columns<kLanes<height, V>>(matrix, step, vectors, slice, NoTable{},
                                    DiaColumns<std::int32_t>{offsets, first});
  }
}

// So many columns, the codes of which are in the same words.
template <int columns, int lanes, Value V, class Table>
STRATA_INLINE inline void add_coded_columns(const Table& table, const std::uint32_t* words,
                                            const V* x, const std::int32_t* offsets,
                                            Lanes<V, lanes>& sums) {
  typename Lanes<V, lanes>::Direct factors[columns];
  STRATA_UNROLL
  for (int column = 0; column < columns; ++column) factors[column] = {x + offsets[column]};
  sums.add_coded(table, words, factors);
}

template <int height, Value V>
[[gnu::noinline]] void step_coded(const PackedSellView<V>& matrix, const Step<V>& step,
                                  const StepVectors<V>& vectors, const CodeTables<V>& tables,
                                  Offset begin, Offset end) {
  constexpr int lanes = kLanes<height, V>;
  tables.template with_fastest<lanes>([&](const auto& table) STRATA_INLINE {
    for (Offset first = begin; first < end; first += height) {
      const Slice<V> slice = slice_of(matrix, height, first);
      const auto* columns = as<std::int32_t>(matrix.codes + matrix.code_offsets[first / height]);
      const auto* data = at_bytes<std::uint32_t>(matrix.data, matrix.data_offsets[first / height]);
      const Offset groups = slice.width / 4;
      for (Offset lane = 0; lane < slice.rows; lane += lanes) {
        const V* x = vectors.x + first + lane;
        const std::int32_t* offsets = columns;
        const std::uint32_t* words = data + lane;
        Lanes<V, lanes> sums;
        for (Offset group = 0; group < groups; ++group, offsets += 4, words += height) {
          prefetch_ahead<lanes * 4>(words);
          add_coded_columns<4>(table, words, x, offsets, sums);
        }
        switch (slice.width % 4) {
          case 1: add_coded_columns<1>(table, words, x, offsets, sums); break;
          case 2: add_coded_columns<2>(table, words, x, offsets, sums); break;
          case 3: add_coded_columns<3>(table, words, x, offsets, sums); break;
          default: break;
        }
        Lanes<V, lanes> results = sums;
        finish_slice(step, vectors, slice, Rows<V>{matrix}, results, lane);
      }
    }
  });
}

template <int height, Value V>
void step_lanes(const PackedSellView<V>& matrix, const Step<V>& step, const StepVectors<V>& vectors,
                Offset begin, Offset end) {
  if constexpr (height >= kFewestLanesAhead) {
    if (matrix.full_values && matrix.upcoming_bytes > 0) {
      step_full_and_ask<height>(matrix, step, vectors, begin, end);
      return;
    }
  }
  if (matrix.full_values) {
    with_step(step,
              [&](const auto& known) { step_full<height>(matrix, known, vectors, begin, end); });
    return;
  }
  const CodeTables<V> tables(matrix.table, matrix.table_size, end - begin);
  for (Offset first = begin; first < end;) {
    const Slice<V> slice = slice_of(matrix, height, first);
    const Kind kind = kind_of(matrix, slice);
    Offset next = first + height;
    if (kind == Kind::full) {
      next = end_of_kind<height>(matrix, kind, first, end);
      step_full<height>(matrix, step, vectors, first, next);
    } else if (kind == Kind::constant) {
      const ConstantRun<V> run = constant_run(matrix, slice, end);
      step_constant(matrix, step, vectors, run);
      next = first + run.slots;
    } else if (kind == Kind::plain) {
      next = end_of_kind<height>(matrix, kind, first, end);
      step_plain<height>(matrix, step, vectors, first, next);
    } else if (kind == Kind::coded) {
      next = end_of_kind<height>(matrix, kind, first, end);
      step_coded<height>(matrix, step, vectors, tables, first, next);
    } else if (matrix.encodings[first / height] == SliceEncoding::dia) {
      step_other_dia<height>(matrix, step, vectors, slice, tables);
    } else {
      step_other<height>(matrix, step, vectors, slice);
    }
    first = next;
  }
}

// The values of some lanes of a slice as full ones, entry by entry.
template <Value V>
[[gnu::noinline]] void decode(const PackedSellView<V>& matrix, const Slice<V>& slice,
                              LaneRange lanes, V* decoded) {
  const EncodedValues<V> values = values_of(matrix, slice);
  const ColumnPlaces<V> places = places_of(values);
  for (Offset entry = 0; entry < slice.width; ++entry, decoded += lanes.end - lanes.begin) {
    const Offset number = column_of(values, entry).number;
    const auto fill = [&](ValueEncoding encoding) STRATA_INLINE {
      for (Offset lane = lanes.begin; lane < lanes.end; ++lane) {
        store(decoded + lane - lanes.begin, value_at(values, places, {encoding, number}, lane));
      }
    };
    switch (column_of(values, entry).encoding) {
      case ValueEncoding::constant: fill(ValueEncoding::constant); break;
      case ValueEncoding::masked: fill(ValueEncoding::masked); break;
      case ValueEncoding::dict8: fill(ValueEncoding::dict8); break;
      case ValueEncoding::dict16: fill(ValueEncoding::dict16); break;
      default: fill(ValueEncoding::full); break;
    }
  }
}

// Rows whose decoded values have no room, one by one.
template <int count, Value V>
[[gnu::noinline]] void step_long_rows(const PackedSellView<V>& matrix, const Step<V>& step,
                                      const StepVectors<V>& vectors, const Slice<V>& slice) {
  const Rows<V> rows{matrix};
  for (Offset lane = 0; lane < slice.rows; ++lane) {
    Number<V> sums[count];
    rows.sum_entries(slice, lane, vectors.x, count, sums);
    finish_row_of_slice(step, vectors, slice, rows, lane, sums);
  }
}

// Several vectors, row by row. Encoded values are decoded before, of as many lanes at a time as
// have room: that takes less time than one by one.
template <int count, Value V>
void step_rowwise(const PackedSellView<V>& matrix, const Step<V>& step,
                  const StepVectors<V>& vectors, Offset begin, Offset end) {
  constexpr Offset kBytes = 16384;
  alignas(64) std::byte bytes[kBytes];
  V* const decoded = reinterpret_cast<V*>(bytes);
  const Offset height = matrix.slice_height;
  for (Offset first = begin; first < end;) {
    const Slice<V> slice = slice_of(matrix, height, first);
    const Kind kind = kind_of(matrix, slice);
    if (kind == Kind::constant) {
      const ConstantRun<V> run = constant_run(matrix, slice, end);
      step_constant(matrix, step, vectors, run);
      first += run.slots;
      continue;
    }
    first += height;
    const Offset row_bytes = slice.width * Offset{sizeof(V)};
    const bool encoded = kind != Kind::full && slice.width > 0;
    if (encoded && row_bytes > kBytes) {
      step_long_rows<count>(matrix, step, vectors, slice);
      continue;
    }
    const Offset room = encoded ? kBytes / row_bytes : slice.rows;
    for (Offset lane = 0; lane < slice.rows; lane += room) {
      Slice<V> part = slice;
      if (encoded) {
        const Offset lanes = slice.rows - lane < room ? slice.rows - lane : room;
        decode(matrix, slice, {lane, lane + lanes}, decoded);
        part = {decoded, slice.width, lanes, slice.first_slot + lane, lanes};
      }
      with_columns(matrix, slice, [&](const auto& columns) {
        step_slice_rowwise<count>(step, vectors, part, columns.from(lane), Rows<V>{matrix});
      });
    }
  }
}

}  // namespace

template <Value V>
void step_packed_sell(const PackedSellView<V>& matrix, const StepCoefficients<V>& coefficients,
                      const StepVectors<V>& vectors, Offset begin, Offset end) {
  const Step<V> step = step_of(coefficients);
  if (vectors.count == 1) {
    with_slice_height(matrix.slice_height, [&]<int height>(Constant<height>) {
      step_lanes<height>(matrix, step, vectors, begin, end);
    });
  } else {
    with_vector_count<2>(vectors.count, [&]<int count>(Constant<count>) {
      step_rowwise<count>(matrix, step, vectors, begin, end);
    });
  }
}

#define STRATA_INSTANTIATE(V, unused)                                                  \
  template void step_packed_sell(const PackedSellView<V>&, const StepCoefficients<V>&, \
                                 const StepVectors<V>&, Offset, Offset)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::cpu::STRATA_CPU_LEVEL
