// A group of slices of packed SELL with one description, as the kernels for encoded values see it:
// what of it is staged in shared memory, and the columns and values of its entries by encoding.
// Columns and values have loads apart from what is made of them, so that those of several entries
// are in flight together; encoded_sell.hpp has the loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/simt.hpp"
#include "strata/kernels/gpu/slice.hpp"
#include "strata/kernels/gpu/slice_values.hpp"
#include "strata/kernels/gpu/value.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

// The most frequent values, in shared memory. Every value is there several times, side by side, and
// each thread reads a copy of its own, so that few of a warp meet in one bank.
template <class T>
struct NearTable {
  const T* values;  // of the thread's copy
  int copies;
  int size;

  STRATA_DEVICE T at(std::uint32_t code) const {
    return values[code * static_cast<unsigned>(copies)];
  }
};

// What the rows of a slice have in common in one entry.
template <class T>
struct alignas(16) StagedEntry {
  std::int32_t base;   // offset or base of the columns; 0 where there is none
  std::uint32_t mask;  // the rows that have the constant; none in full columns alone
  T constant;
};

// A warp's part of the shared memory: so many entries of a description at a time.
inline constexpr int kStagedEntries = 64;
inline constexpr std::uint32_t kNothingStaged = ~std::uint32_t{0};
inline constexpr int kGroupsAtOnce = 32 / SliceGroup::kMost;
template <class T>
struct Staged {
  StagedEntry<T> entries[kStagedEntries];
  std::uint32_t columns[kStagedEntries];  // as mixed slices have it
  SliceGroup groups[kGroupsAtOnce];
};

// The slices of a group that a warp multiplies at a time.
template <int members>
struct Members {
  const std::byte* codes;
  const std::byte* block;  // of values
  int width;
  SliceEncoding encoding;
  RunLength run;
  ValueEncoding value_encoding;
  int count;  // the last is repeated in the places that are left
  std::int32_t numbers[members];
  const std::byte* data[members];

  template <class T>
  STRATA_DEVICE Members(const PackedSellView<T>& matrix, const SliceGroup& group, int first)
      : codes(matrix.codes + group.codes * kCodeUnit),
        block(matrix.codes + group.values * kCodeUnit) {
    const SliceHeader header = group.header();
    width = header.width();
    encoding = header.encoding();
    run = run_of(encoding, matrix.run);
    value_encoding = header.value_encoding();
    count = group.count - first < members ? group.count - first : members;
    STRATA_UNROLL
    for (int member = 0; member < members; ++member) {
      numbers[member] = group.numbers[first + member];
      data[member] = matrix.data + group.data[first + member] * kCodeUnit;
    }
  }
};

// Where the parts of a description are. A description of one slice serves all of a group.
template <int height, class T>
struct Description {
  const std::int32_t* numbers;             // offsets, bases or columns
  const std::uint32_t* columns = nullptr;  // of mixed slices
  const T* constants;
  const std::uint32_t* masks = nullptr;  // null where every row has the constant
  int dict16 = 0;                        // where codes begin in the data, in bytes
  int dict8 = 0;

  template <int members>
  STRATA_DEVICE explicit Description(const Members<members>& group)
      : numbers(reinterpret_cast<const std::int32_t*>(group.codes)),
        constants(at_bytes<T>(group.block, 0)) {
    if (group.value_encoding == ValueEncoding::masked) {
      masks = at_bytes<std::uint32_t>(group.block, group.width * static_cast<int>(sizeof(T)));
    }
    if (group.value_encoding != ValueEncoding::mixed) return;
    const MixedHeader header = *at_bytes<MixedHeader>(group.block, 0);
    constexpr int head = static_cast<int>(sizeof(MixedHeader));
    columns = at_bytes<std::uint32_t>(group.block, head);
    masks = columns + group.width;
    const int words = group.width + static_cast<int>(header.constants);
    constants = at_bytes<T>(group.block, (head + 4 * words + 15) / 16 * 16);
    dict16 = static_cast<int>(header.full) * height * static_cast<int>(sizeof(T));
    dict8 = dict16 + (static_cast<int>(header.dict16) + 1) / 2 * height * 4;
  }
};

// A copy of something in shared memory, by loads of 16 bytes, which compilers do not find.
template <class T>
STRATA_DEVICE T from_shared(const T& from) {
#ifdef STRATA_SIMT_NATIVE
  if constexpr (sizeof(T) % sizeof(uint4) == 0) {
    uint4 words[sizeof(T) / sizeof(uint4)];
    STRATA_UNROLL
    for (std::size_t i = 0; i < sizeof(T) / sizeof(uint4); ++i) {
      words[i] = reinterpret_cast<const uint4*>(&from)[i];
    }
    T copy;
    memcpy(&copy, words, sizeof copy);
    return copy;
  }
#endif
  return from;
}

// The pointer, of which the compiler is not told where it comes from: it would take sums of sums
// apart and add anew for every load.
STRATA_DEVICE const std::byte* kept_apart(const std::byte* pointer) {
#if defined(STRATA_SIMT_NATIVE) && !defined(__HIPCC__)
  asm("" : "+l"(pointer));
#endif
  return pointer;
}

// What all rows have in common in an entry whose encoding is not that of all, and which that is.
template <int height, int members, class T>
STRATA_DEVICE StagedEntry<T> mixed_entry(const Members<members>& group, int entry,
                                         std::uint32_t& column) {
  const Description<height, T> from(group);
  StagedEntry<T> own{};
  column = from.columns != nullptr
               ? from.columns[entry]
               : mixed_column(group.value_encoding, static_cast<std::uint32_t>(entry));
  const auto encoding = static_cast<ValueEncoding>(column % 8);
  if (encoding != ValueEncoding::full) own.mask = ~0u;
  if (encoding == ValueEncoding::constant || encoding == ValueEncoding::masked) {
    own.constant = from.constants[column / 8];
    if (from.masks != nullptr) own.mask = from.masks[column / 8];
  }
  return own;
}

// The columns of a group relative to each member's first slot, beyond the staged base. Loads are
// apart from what is made of them, so that those of several entries are in flight together.
struct OnDiagonals {
  STRATA_DEVICE static std::int32_t first(int row) { return row; }  // of all entries
  template <class Thread>
  STRATA_DEVICE std::int32_t load(Thread&, int, int) const {
    return 0;
  }
};
template <int height>
struct ByDeltas {
  const std::byte* deltas;
  int shift;           // a delta has 2^shift bytes
  std::uint32_t mask;  // of its bits
  bool on_diagonals;
  RunLength run;

  STRATA_DEVICE ByDeltas(const std::byte* codes, int width, SliceEncoding encoding, RunLength runs)
      : deltas(codes), shift(0), mask(0), on_diagonals(false), run(runs) {
    const bool small = encoding == SliceEncoding::delta8 || encoding == SliceEncoding::run8;
    const bool large = encoding == SliceEncoding::delta16 || encoding == SliceEncoding::run16;
    on_diagonals = encoding == SliceEncoding::dia;
    if (small || large) deltas += delta_place(width, height, run);
    if (small) mask = 0xff;
    if (large) mask = 0xffff;
    if (encoding == SliceEncoding::index32) mask = ~0u;
    shift = small || on_diagonals ? 0 : (large ? 1 : 2);
  }

  STRATA_DEVICE static std::int32_t first(int) { return 0; }
  // Every size by one load: of several, each under its condition, all take time.
  template <class Thread>
  STRATA_DEVICE std::int32_t load(Thread& thread, int entry, int row) const {
    const int place = on_diagonals ? 0 : (run.of(entry) * height + row) << shift;
    const std::uint32_t word = thread.load_early(at_bytes<std::uint32_t>(deltas, place & ~3));
    const std::uint32_t delta = word >> (place & 3) * 8 & mask;
    return static_cast<std::int32_t>(delta) + (on_diagonals ? row : 0);
  }
};

// The values of a group, likewise: load() and then look_up() for all members, value() for each.
template <class T>
struct ConstantsOfGroup {
  template <int members>
  STRATA_DEVICE static StagedEntry<T> staged(const Members<members>& group, int entry,
                                             std::uint32_t&) {
    std::uint32_t mask = ~0u;
    if (group.value_encoding == ValueEncoding::masked) {
      mask = at_bytes<std::uint32_t>(group.block, group.width * static_cast<int>(sizeof(T)))[entry];
    }
    return {0, mask, at_bytes<T>(group.block, 0)[entry]};
  }

  struct Loaded {};
  template <class Thread, int ahead>
  STRATA_DEVICE void load(Thread&, const Staged<T>&, int, int, int, int, Loaded (&)[ahead]) const {}
  template <class Thread>
  STRATA_DEVICE void look_up(Thread&, const Staged<T>&, int, Loaded&) const {}
  STRATA_DEVICE T value(const Loaded&, const StagedEntry<T>& entry, int, int row) const {
    return (entry.mask >> row & 1) != 0 ? entry.constant : T{};
  }
};

// One full column among constants.
template <int height, int members, class T>
struct OneFullOfGroup {
  T full[members];

  STRATA_DEVICE static StagedEntry<T> staged(const Members<members>& group, int entry,
                                             std::uint32_t& column) {
    return mixed_entry<height, members, T>(group, entry, column);
  }

  struct Loaded {};
  template <class Thread, int ahead>
  STRATA_DEVICE void load(Thread&, const Staged<T>&, int, int, int, int, Loaded (&)[ahead]) const {}
  template <class Thread>
  STRATA_DEVICE void look_up(Thread&, const Staged<T>&, int, Loaded&) const {}
  STRATA_DEVICE T value(const Loaded&, const StagedEntry<T>& entry, int member, int row) const {
    const T constant = (entry.mask >> row & 1) != 0 ? entry.constant : T{};
    return entry.mask == 0 ? full[member] : constant;
  }
};

// Whether members of a group have their codes in common, or one full column among them.
enum class CodesKind { own, shared, but_one };

// Where a row has one thread, the entries that have their codes in one word follow one another, and
// it is loaded once.
template <int per_word, int height, int members, CodesKind kind, class T>
struct CodesOfGroup {
  static constexpr int kWords = kind == CodesKind::shared ? 1 : members;

  const std::uint32_t* words[kWords];
  NearTable<T> table;
  T full[kind == CodesKind::but_one ? members : 1];

  STRATA_DEVICE static StagedEntry<T> staged(const Members<members>& group, int entry,
                                             std::uint32_t& column) {
    if constexpr (kind == CodesKind::but_one) {
      return mixed_entry<height, members, T>(group, entry, column);
    } else {
      return {};
    }
  }

  struct Loaded {
    std::uint32_t words[kWords];
    int entry;
  };
  template <class Thread, int ahead>
  STRATA_DEVICE void load(Thread& thread, const Staged<T>&, int, int entry, int row, int u,
                          Loaded (&loaded)[ahead]) const {
    static_assert((ahead & (ahead - 1)) == 0);
    loaded[u].entry = entry;
    STRATA_UNROLL
    for (int member = 0; member < kWords; ++member) {
      loaded[u].words[member] =
          Thread::warp_size == height && u % per_word != 0
              ? loaded[u - 1].words[member]
              : thread.load_early(words[member] + (entry / per_word * height + row));
    }
  }
  template <class Thread>
  STRATA_DEVICE void look_up(Thread&, const Staged<T>&, int, Loaded&) const {}
  STRATA_DEVICE T value(const Loaded& loaded, const StagedEntry<T>& entry, int member, int) const {
    const std::uint32_t word = loaded.words[kind == CodesKind::shared ? 0 : member];
    const T coded = table.at(code_in<per_word>(word, loaded.entry));
    if constexpr (kind == CodesKind::but_one) return entry.mask == 0 ? full[member] : coded;
    return coded;
  }
};

// Any encoding, of each entry its own.
template <int height, int members, class T>
struct AnyOfGroup {
  const std::byte* data[members];
  int dict16;  // where codes begin in the data, in bytes
  int dict8;
  NearTable<T> near_table;
  const T* table;
  int table_size;

  STRATA_DEVICE static StagedEntry<T> staged(const Members<members>& group, int entry,
                                             std::uint32_t& column) {
    return mixed_entry<height, members, T>(group, entry, column);
  }

  struct Loaded {
    T values[members];
    std::uint32_t words[members];
  };
  template <class Thread, int ahead>
  STRATA_DEVICE void load(Thread& thread, const Staged<T>& staged, int place, int, int row, int u,
                          Loaded (&all)[ahead]) const {
    Loaded& loaded = all[u];
    const std::uint32_t column = staged.columns[place];
    const auto number = static_cast<int>(column / 8);
    const auto encoding = static_cast<ValueEncoding>(column % 8);
    const StagedEntry<T> entry = from_shared(staged.entries[place]);
    const T constant = (entry.mask >> row & 1) != 0 ? entry.constant : T{};
    // There may be no data at all: nothing is added to where they would be.
    const bool full = encoding == ValueEncoding::full;
    const int value = full ? number * height + row : 0;
    STRATA_UNROLL
    for (int member = 0; member < members; ++member) {
      loaded.values[member] = load_if(thread, full, at_bytes<T>(data[member], 0) + value, constant);
    }
    const bool coded = is_code(encoding);
    const int code = encoding == ValueEncoding::dict8 ? dict8 + (number / 4 * height + row) * 4
                                                      : dict16 + (number / 2 * height + row) * 4;
    const int word = coded ? code : 0;
    STRATA_UNROLL
    for (int member = 0; member < members; ++member) {
      loaded.words[member] =
          thread.load_if(coded, at_bytes<std::uint32_t>(data[member], word), std::uint32_t{0});
    }
  }
  template <class Thread>
  STRATA_DEVICE void look_up(Thread& thread, const Staged<T>& staged, int place,
                             Loaded& loaded) const {
    const std::uint32_t column = staged.columns[place];
    const auto number = static_cast<int>(column / 8);
    const auto encoding = static_cast<ValueEncoding>(column % 8);
    const bool coded = is_code(encoding);
    STRATA_UNROLL
    for (int member = 0; member < members; ++member) {
      const std::uint32_t word = loaded.words[member];
      const std::uint32_t code =
          encoding == ValueEncoding::dict8 ? code_in<4>(word, number) : code_in<2>(word, number);
      const bool near = code < static_cast<unsigned>(near_table.size);
      T found{};
      if (near_table.size > 0) found = near_table.at(coded && near ? code : 0);
      if (near_table.size < table_size) {
        found = load_if(thread, coded && !near, table + code, found);
      }
      if (coded) loaded.values[member] = found;
    }
  }
  STRATA_DEVICE T value(const Loaded& loaded, const StagedEntry<T>&, int member, int) const {
    return loaded.values[member];
  }

 private:
  STRATA_DEVICE static bool is_code(ValueEncoding encoding) {
    return encoding == ValueEncoding::dict8 || encoding == ValueEncoding::dict16;
  }
};

}  // namespace strata::gpu
