// Packed SELL with encoded values on a GPU: one step of a recurrence on a range of slices.
//
// With most bytes gone, memory is no longer the limit; instructions and the first-level cache are.
// Slices of regular matrices have their descriptions (code blocks) in common, so a warp takes a few
// of those, a group, at a time: offsets, constants, masks and deltas are loaded once for all of
// them, and more loads of x are in flight. Groups are found beforehand (slice_groups.hpp). What all
// rows of a slice share is staged in shared memory, where one load brings it to all threads.
//
// Kernels differ in the encoding that they are made for (EncodedKind). Slices with any other have
// blocks of their own, which call a function: for every slice that a loop can multiply, all its
// threads need registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "strata/kernels/gpu/encoded_group.hpp"
#include "strata/kernels/gpu/packed_sell.hpp"
#include "strata/kernels/gpu/slice.hpp"
#include "strata/kernels/gpu/slice_values.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

// How the warps of a launch share out the groups, and what they load early.
struct EncodedShape {
  int groups_per_warp = 1;    // at a time, at most kGroupsAtOnce
  int plane = 1;              // the warps of a block take groups that many warps' shares apart
  int left_out_blocks = 0;    // the first of all, for the slices that the kernel is not made for
  int near_values = 0;        // of the near table; codes from there on are looked up in memory
  int copies = 1;             // of each of them
  std::int32_t prefetch = 0;  // so many columns from a slice's first slot on; 0: nothing
  std::int32_t columns = 0;   // of the matrix
};

// The shared memory of a block: the near table and what its warps stage.
template <class T>
STRATA_HOST_DEVICE constexpr int near_table_bytes(int values, int copies) {
  return (values * copies * static_cast<int>(sizeof(T)) + 15) / 16 * 16;
}
template <class T>
constexpr std::int64_t encoded_shared_bytes(const EncodedShape& shape, int warps) {
  return near_table_bytes<T>(shape.near_values, shape.copies) +
         warps * static_cast<std::int64_t>(sizeof(Staged<T>));
}

// Brings entries [first, first + kStagedEntries) of a description to shared memory.
template <class Values, int members, class Thread, class T>
STRATA_DEVICE void stage(Thread& thread, const Members<members>& group, int first,
                         Staged<T>& staged) {
  const auto* numbers = reinterpret_cast<const std::int32_t*>(group.codes);
  thread.sync_warp();
  for (int place = thread.lane(); place < kStagedEntries && first + place < group.width;
       place += Thread::warp_size) {
    const int entry = first + place;
    const int run = group.run.of(entry);
    std::uint32_t column = 0;
    StagedEntry<T> own = Values::staged(group, entry, column);
    if (group.encoding != SliceEncoding::index32) {
      own.base = numbers[run] + (entry - run * group.run.length);
    }
    staged.entries[place] = own;
    staged.columns[place] = column;
  }
  thread.sync_warp();
}

// Adds entries [first, end) of a thread's rows, staged from `first` on, to their sums, in the order
// of add_products().
template <int height, int ahead, int members, class Thread, class T, class Columns, class Values>
STRATA_DEVICE void add_staged(Thread& thread, const Staged<T>& staged, int first, int end,
                              const Columns& columns, const Values& values,
                              const T* const (&x)[members], T (&sums)[members]) {
  constexpr int parts = Thread::warp_size / height;
  const int row = thread.lane() % height;
  const int part = thread.lane() / height;
  // In bytes, so that an address takes one addition.
  const std::byte* from[members];
  STRATA_UNROLL
  for (int member = 0; member < members; ++member) {
    from[member] = kept_apart(reinterpret_cast<const std::byte*>(x[member] + Columns::first(row)));
  }
  const auto some = [&](int chunk, auto whole) {
    const auto place_of = [&](int u) {
      const int place = (chunk * ahead + u) * parts + part;
      return whole || first + place < end ? place : end - 1 - first;
    };
    StagedEntry<T> entries[ahead];
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) entries[u] = from_shared(staged.entries[place_of(u)]);
    std::int32_t more[ahead];
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) more[u] = columns.load(thread, first + place_of(u), row);
    typename Values::Loaded loaded[ahead];
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) {
      values.load(thread, staged, place_of(u), first + place_of(u), row, u, loaded);
    }
    T factors[ahead][members];
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) {
      const std::int64_t bytes = std::int64_t{entries[u].base + more[u]} * std::int64_t{sizeof(T)};
      STRATA_UNROLL
      for (int member = 0; member < members; ++member) {
        factors[u][member] = load_early(thread, at_bytes<T>(from[member] + bytes, 0));
      }
    }
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) {
      values.look_up(thread, staged, place_of(u), loaded[u]);
      const bool inside = whole || first + (chunk * ahead + u) * parts + part < end;
      STRATA_UNROLL
      for (int member = 0; member < members; ++member) {
        const T value = values.value(loaded[u], entries[u], member, row);
        const T sum = multiply_add(value, factors[u][member], sums[member]);
        sums[member] = inside ? sum : sums[member];
      }
    }
  };
  const int chunks = (end - first) / (ahead * parts);
  for (int chunk = 0; chunk < chunks; ++chunk) some(chunk, std::true_type());
  if (first + chunks * ahead * parts < end) some(chunks, std::false_type());
}

// What the warps of a launch work with.
template <class T>
struct EncodedWork {
  const PackedSellView<T>& matrix;
  const StepArguments<T>& step;
  NearTable<T> near_table;
  Staged<T>* staged;           // of this warp
  std::uint32_t staged_codes;  // which code block is staged whole
  SliceRange range;            // of the rows to write
  bool plain;                  // out = αAx, row by row in their order
};

// The sums of a group.
template <bool diagonals, int height, int ahead, int members, class Thread, class T, class Values>
STRATA_DEVICE void multiply_group(Thread& thread, EncodedWork<T>& work, std::uint32_t codes,
                                  const Members<members>& group, const Values& values,
                                  T (&sums)[members]) {
  const T* x[members];
  const T* all = work.step.x;
  const bool absolute = !diagonals && group.encoding == SliceEncoding::index32;
  STRATA_UNROLL
  for (int member = 0; member < members; ++member) {
    x[member] = all + (absolute ? 0 : group.numbers[member] * height);
  }
  for (int first = 0; first < group.width; first += kStagedEntries) {
    // Descriptions of one part are often those of the group before.
    if (codes != work.staged_codes) stage<Values>(thread, group, first, *work.staged);
    if (group.width <= kStagedEntries) work.staged_codes = codes;
    const int end = first + kStagedEntries < group.width ? first + kStagedEntries : group.width;
    if constexpr (diagonals) {
      add_staged<height, ahead>(thread, *work.staged, first, end, OnDiagonals{}, values, x, sums);
    } else {
      const ByDeltas<height> columns(group.codes, group.width, group.encoding, group.run);
      add_staged<height, ahead>(thread, *work.staged, first, end, columns, values, x, sums);
    }
  }
  if (group.width > kStagedEntries) work.staged_codes = kNothingStaged;
}

// The first column of the value data, which is the only full one.
template <int height, int members, class Thread, class T>
STRATA_DEVICE void load_full_column(Thread& thread, const Members<members>& group,
                                    T (&full)[members]) {
  STRATA_UNROLL
  for (int member = 0; member < members; ++member) {
    full[member] = load_early(thread, at_bytes<T>(group.data[member], 0) + thread.lane() % height);
  }
}

template <int per_word, bool diagonals, int height, int ahead, int members, class Thread, class T>
STRATA_DEVICE void multiply_codes(Thread& thread, EncodedWork<T>& work, const SliceHeader& header,
                                  const Members<members>& group, T (&sums)[members]) {
  const auto multiply = [&](const auto& values) {
    multiply_group<diagonals, height, ahead>(thread, work, header.codes, group, values, sums);
  };
  const auto words_of = [&](int member, int bytes) {
    return at_bytes<std::uint32_t>(group.data[member], bytes);
  };
  if (header.coded_but_one()) {
    CodesOfGroup<per_word, height, members, CodesKind::but_one, T> values{{}, work.near_table, {}};
    load_full_column<height>(thread, group, values.full);
    STRATA_UNROLL
    for (int member = 0; member < members; ++member) {
      values.words[member] = words_of(member, height * static_cast<int>(sizeof(T)));
    }
    multiply(values);
    return;
  }
  CodesOfGroup<per_word, height, members, CodesKind::own, T> own{{}, work.near_table, {}};
  bool shared = true;
  STRATA_UNROLL
  for (int member = 0; member < members; ++member) {
    own.words[member] = words_of(member, 0);
    shared = shared && own.words[member] == own.words[0];
  }
  if (shared) {
    multiply(CodesOfGroup<per_word, height, members, CodesKind::shared, T>{
        {own.words[0]}, work.near_table, {}});
  } else {
    multiply(own);
  }
}

template <int height, int ahead, int members, class Thread, class T>
STRATA_DEVICE void multiply_any(Thread& thread, EncodedWork<T>& work, const SliceHeader& header,
                                const Members<members>& group, T (&sums)[members]) {
  const Description<height, T> from(group);
  AnyOfGroup<height, members, T> values{
      {}, from.dict16, from.dict8, work.near_table, work.matrix.table, work.matrix.table_size};
  STRATA_UNROLL
  for (int member = 0; member < members; ++member) values.data[member] = group.data[member];
  multiply_group<false, height, ahead>(thread, work, header.codes, group, values, sums);
}

template <EncodedKind kind, int height, int ahead, int members, class Thread, class T>
STRATA_DEVICE void multiply_group(Thread& thread, EncodedWork<T>& work, const SliceHeader& header,
                                  const Members<members>& group, T (&sums)[members]) {
  constexpr bool diagonals = on_diagonals(kind);
  if constexpr (kind == EncodedKind::constants || kind == EncodedKind::scattered_constants) {
    multiply_group<diagonals, height, ahead>(thread, work, header.codes, group,
                                             ConstantsOfGroup<T>{}, sums);
  } else if constexpr (kind == EncodedKind::one_full) {
    OneFullOfGroup<height, members, T> values;
    load_full_column<height>(thread, group, values.full);
    multiply_group<diagonals, height, ahead>(thread, work, header.codes, group, values, sums);
  } else if constexpr (kind == EncodedKind::codes8 || kind == EncodedKind::scattered_codes8) {
    multiply_codes<4, diagonals, height, ahead>(thread, work, header, group, sums);
  } else if constexpr (kind == EncodedKind::codes16) {
    multiply_codes<2, diagonals, height, ahead>(thread, work, header, group, sums);
  } else {
    multiply_any<height, ahead>(thread, work, header, group, sums);
  }
}

// Writes a thread's row of a slice and returns whether that was right: its sum may have to be taken
// again, without holes.
template <int height, class Thread, class T>
STRATA_DEVICE bool finish_finite(Thread& thread, const EncodedWork<T>& work, int number, T sum) {
  sum = sum_of_lanes(thread, height, sum);
  const int row = thread.lane();
  const std::int32_t slot = number * height + row;
  if (row >= height || slot >= work.matrix.rows) return true;
  if (!is_finite(sum)) return false;
  if (work.plain) {
    work.step.out[slot] = multiply_add(work.step.alpha, sum, T{});
  } else {
    const std::int32_t* row_of_slot = work.matrix.row_of_slot;
    finish(work.step, row_of_slot != nullptr ? row_of_slot[slot] : slot, sum);
  }
  return true;
}

// Sums again, without holes and padding, a thread's row of a slice.
template <int height, class Thread, class T>
STRATA_DEVICE void finish_again(Thread& thread, const EncodedWork<T>& work, int number) {
  const PackedSellView<T>& matrix = work.matrix;
  const int row = thread.lane();
  const SliceHeader header = matrix.slices[number];
  const PackedSlice<T> slice{nullptr,         matrix.codes + header.codes * kCodeUnit,
                             header.width(),  header.encoding(),
                             number * height, 0,
                             matrix.run};
  const ValuePlace<T> place{header.value_encoding(), matrix.codes + header.values * kCodeUnit,
                            matrix.data + header.data * kCodeUnit, matrix.table, matrix.table};
  const EntriesOfRow<height> is_entry{matrix.presence,
                                      matrix.positions[number] + static_cast<unsigned>(row)};
  const T sum = sum_without_padding<height>(
      thread, AnyValues<FromCache, height, T>(place, slice.width), slice.width,
      AnyColumns<FromCache, height>(slice), row, work.step.x, 1, is_entry);
  const std::int32_t slot = number * height + row;
  finish(work.step, matrix.row_of_slot != nullptr ? matrix.row_of_slot[slot] : slot, sum);
}

// Slices of a group from the first on. Bit m of what comes back: a thread's row of slice m of the
// group is not written yet.
template <EncodedKind kind, int height, int members, int ahead, class Thread, class T>
STRATA_DEVICE std::uint32_t step_members(Thread& thread, EncodedWork<T>& work,
                                         const SliceGroup& group, int first) {
  const Members<members> some(work.matrix, group, first);
  T sums[members] = {};
  multiply_group<kind, height, ahead>(thread, work, group.header(), some, sums);
  std::uint32_t again = 0;
  STRATA_UNROLL
  for (int member = 0; member < members; ++member) {
    if (member >= some.count) break;
    const int number = some.numbers[member];
    if (number < work.range.begin || number >= work.range.end) continue;
    if (finish_finite<height>(thread, work, number, sums[member])) continue;
    again |= std::uint32_t{1} << (first + member);
  }
  return again;
}
template <EncodedKind kind, int height, int members, int ahead, class Thread, class T>
STRATA_DEVICE std::uint32_t step_group(Thread& thread, EncodedWork<T>& work,
                                       const SliceGroup& group) {
  if constexpr (members == SliceGroup::kMost) {
    return step_members<kind, height, members, ahead>(thread, work, from_shared(group), 0);
  }
  std::uint32_t again = 0;
  for (int first = 0; first < group.count; first += members) {
    again |= step_members<kind, height, members, ahead>(thread, work, group, first);
  }
  return again;
}

// Brings what a slice some way ahead will load of x to the L2 cache.
template <int height, class Thread, class T>
STRATA_DEVICE void prefetch_slice(Thread& thread, const T* x, int number,
                                  const EncodedShape& shape) {
  constexpr int line = 128 / static_cast<int>(sizeof(T));
  const std::int64_t first = static_cast<std::int64_t>(number) * height + shape.prefetch;
  STRATA_UNROLL
  for (int element = 0; element < height; element += line) {
    if (first + element < shape.columns) thread.prefetch(x + first + element);
  }
}

// A range of groups.
struct GroupList {
  const SliceGroup* groups = nullptr;
  std::int32_t count = 0;
};

// Brings groups to shared memory, 16 bytes per thread.
template <class Thread>
STRATA_DEVICE void copy_groups(Thread& thread, const SliceGroup* from, int count, SliceGroup* to) {
  constexpr int kBytes = 16;
  const int bytes = count * static_cast<int>(sizeof(SliceGroup));
  for (int at = thread.lane() * kBytes; at < bytes; at += Thread::warp_size * kBytes) {
    memcpy(reinterpret_cast<std::byte*>(to) + at, reinterpret_cast<const std::byte*>(from) + at,
           kBytes);
  }
}

// Some groups of a list, a warp's share.
template <EncodedKind kind, int height, int members, int ahead, class Thread, class T>
STRATA_DEVICE void step_groups(Thread& thread, EncodedWork<T>& work, const SliceGroup* groups,
                               int count, const EncodedShape& shape) {
  const SliceGroup* staged = work.staged->groups;
  thread.sync_warp();
  copy_groups(thread, groups, count, work.staged->groups);
  thread.sync_warp();
  if (shape.prefetch != 0 && thread.lane() < count * SliceGroup::kMost) {
    const SliceGroup& own = staged[thread.lane() / SliceGroup::kMost];
    prefetch_slice<height>(thread, work.step.x, own.numbers[thread.lane() % SliceGroup::kMost],
                           shape);
  }
  std::uint32_t again = 0;
  for (int i = 0; i < count; ++i) {
    again |= step_group<kind, height, members, ahead>(thread, work, staged[i])
             << i * SliceGroup::kMost;
  }
  for (int place = 0; place < count * SliceGroup::kMost && thread.any(again >> place != 0);
       ++place) {
    if ((again >> place & 1) == 0) continue;
    const SliceGroup& own = staged[place / SliceGroup::kMost];
    finish_again<height>(thread, work, own.numbers[place % SliceGroup::kMost]);
  }
}

// All groups of a list, shared out to the warps of so many blocks. Slices that are a plane of a
// grid apart read the same x in part: one block takes them.
template <EncodedKind kind, int height, int members, int ahead, class Thread, class T>
STRATA_DEVICE void step_all(Thread& thread, EncodedWork<T>& work, const GroupList& list, int block,
                            int blocks, const EncodedShape& shape) {
  const int shares = (list.count + shape.groups_per_warp - 1) / shape.groups_per_warp;
  const int plane = shape.plane;
  const int layers = thread.warps() * plane;
  for (; block / plane * layers < shares; block += blocks) {
    const int share = block / plane * layers + thread.warp() * plane + block % plane;
    const int first = share * shape.groups_per_warp;
    if (share >= shares) continue;
    const int left = list.count - first;
    const int count = left < shape.groups_per_warp ? left : shape.groups_per_warp;
    step_groups<kind, height, members, ahead>(thread, work, list.groups + first, count, shape);
  }
}

// Slices with any values, without a near table.
template <int height, class Thread, class T>
STRATA_DEVICE_RARE void step_left_out(Thread& thread, PackedSellView<T> matrix,
                                      StepArguments<T> step, Staged<T>* staged, SliceRange range,
                                      GroupList list, int blocks) {
  EncodedWork<T> work{matrix, step, {nullptr, 1, 0}, staged, kNothingStaged, range, false};
  step_all<EncodedKind::other, height, 1, 4>(thread, work, list, thread.block(), blocks, {});
}

// The body of the kernels for one vector: a thread loads so many entries of so many slices of a
// group at a time. Shared memory is as encoded_shared_bytes() says.
template <EncodedKind kind, int height, int members, int ahead, class Thread, class T>
STRATA_DEVICE void encoded_sell_step(Thread& thread, const PackedSellView<T>& matrix,
                                     const StepArguments<T>& step, SliceRange range,
                                     const GroupList& list, const GroupList& left_out,
                                     const EncodedShape& shape) {
  static_assert(SliceGroup::kMost % members == 0);
  auto* shared = thread.template shared<std::byte>();
  auto* values = reinterpret_cast<T*>(shared);
  auto* staged =
      reinterpret_cast<Staged<T>*>(shared + near_table_bytes<T>(shape.near_values, shape.copies)) +
      thread.warp();
  if (thread.block() < shape.left_out_blocks) {
    step_left_out<height>(thread, matrix, step, staged, range, left_out, shape.left_out_blocks);
    return;
  }
  if (shape.near_values > 0) {
    for (int i = thread.index(); i < shape.near_values * shape.copies; i += thread.size()) {
      values[i] = matrix.table[i / shape.copies];
    }
    thread.sync_block();
  }
  EncodedWork<T> work{matrix,
                      step,
                      {values + thread.lane() % shape.copies, shape.copies, shape.near_values},
                      staged,
                      kNothingStaged,
                      range,
                      is_zero(step.shift) && is_zero(step.beta) && matrix.row_of_slot == nullptr};
  step_all<kind, height, members, ahead>(thread, work, list, thread.block() - shape.left_out_blocks,
                                         thread.blocks() - shape.left_out_blocks, shape);
}

}  // namespace strata::gpu
