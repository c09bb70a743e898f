// Packed SELL on a GPU: one step of a recurrence on a range of slices, a warp per slice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "strata/kernels/gpu/slice.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

// What the kernels need to know of the rows besides the slices.
struct PackedRows {
  const std::uint64_t* presence = nullptr;    // null when every stored value is an entry
  const std::int32_t* row_of_slot = nullptr;  // null when nothing is sorted
  std::int32_t rows = 0;
};

// Which of the entries of a row are not holes or padding.
template <int height>
struct EntriesOfRow {
  const std::uint64_t* presence;
  std::uint64_t first;  // the position of its first entry

  STRATA_DEVICE bool operator()(int entry) const {
    const std::uint64_t position = first + static_cast<std::uint64_t>(entry) * height;
    return presence == nullptr || (presence[position / 64] >> (position % 64) & 1) != 0;
  }
};

// A row of one vector without its holes and padding.
template <int height, class Thread, class T, class Run>
STRATA_DEVICE T sum_of_entries(Thread& thread, const PackedSlice<T, Run>& slice,
                               const std::uint64_t* presence, int row, const T* x, int count) {
  const EntriesOfRow<height> is_entry{presence, slice.position + static_cast<unsigned>(row)};
  const FullValues<FromCache, height, T> values{slice.values};
  T sum{};
  with_columns<FromCache, height>(slice, [&](const auto& columns) {
    sum =
        sum_without_padding<height>(thread, values, slice.width, columns, row, x, count, is_entry);
  });
  return sum;
}

// One slice, by all threads of a warp.
template <class Loads, int height, int vectors, int ahead, class Thread, class T, class Run,
          class Written = AsItIs>
STRATA_DEVICE void packed_sell_slice(Thread& thread, const PackedSlice<T, Run>& slice,
                                     const PackedRows& rows, const StepArguments<T>& step,
                                     const Written& written = {}) {
  T sums[vectors] = {};
  multiply<Loads, height, vectors, ahead>(thread, slice, step.x, step.count, sums);
  finish_slice<height>(
      thread, {slice.first_slot, rows.rows, rows.row_of_slot}, step, sums,
      [&](int row, int v) {
        return sum_of_entries<height>(thread, slice, rows.presence, row, step.x + v, step.count);
      },
      written);
}

// One slice with encoded values.
template <class Loads, int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void encoded_slice(Thread& thread, const PackedSellView<T>& matrix, int number,
                                 const SliceHeader& header, const T* near_table,
                                 const StepArguments<T>& step) {
  const PackedSlice<T> slice{nullptr,         matrix.codes + header.codes * kCodeUnit,
                             header.width(),  header.encoding(),
                             number * height, 0,
                             matrix.run};
  const ValuePlace<T> place{header.value_encoding(), matrix.codes + header.values * kCodeUnit,
                            matrix.data + header.data * kCodeUnit, near_table, matrix.table};
  T sums[vectors] = {};
  with_some_columns<Loads, height>(slice, [&](const auto& columns) {
    with_values<Loads, height>(place, slice.width, [&](const auto& values) {
      multiply<Loads, height, vectors, ahead>(thread, values, slice.width, columns, step.x,
                                              step.count, sums);
    });
  });
  finish_slice<height>(
      thread, {slice.first_slot, matrix.rows, matrix.row_of_slot}, step, sums, [&](int row, int v) {
        const EntriesOfRow<height> is_entry{matrix.presence,
                                            matrix.positions[number] + static_cast<unsigned>(row)};
        return sum_without_padding<height>(
            thread, AnyValues<FromCache, height, T>(place, slice.width), slice.width,
            AnyColumns<FromCache, height>(slice), row, step.x + v, step.count, is_entry);
      });
}

// The body of the kernels for full values: warps go through the slices together, each loading its
// next header while it works on a slice. `Run` is NoRuns for matrices without runs of columns,
// which need not pay for them.
template <class Loads, class Run, int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void packed_sell_step(Thread& thread, const PackedSellView<T>& matrix,
                                    const StepArguments<T>& step, SliceRange range) {
  const PackedRows rows{matrix.presence, matrix.row_of_slot, matrix.rows};
  Run run{};
  if constexpr (std::is_same_v<Run, RunLength>) run = matrix.run;
  // With a function for the body compilers take more registers.
  const int stride = thread.blocks() * thread.warps();
  int number = range.begin + thread.block() * thread.warps() + thread.warp();
  if (number >= range.end) return;
  for (SliceHeader header = matrix.slices[number]; number < range.end;) {
    const int next = number + stride;
    const SliceHeader now = header;
    if (next < range.end) header = matrix.slices[next];
    const auto position = std::uint64_t{now.data} * (kCodeUnit / sizeof(T));
    packed_sell_slice<Loads, height, vectors, ahead>(
        thread,
        PackedSlice<T, Run>{reinterpret_cast<const T*>(matrix.data) + position,
                            matrix.codes + now.codes * kCodeUnit, now.width(), now.encoding(),
                            number * height, position, run},
        rows, step);
    number = next;
  }
}

// The same for any values; for one vector there is a faster way (encoded_sell.hpp). Shared memory
// has room for the near table.
template <class Loads, int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void encoded_vectors_step(Thread& thread, const PackedSellView<T>& matrix,
                                        const StepArguments<T>& step, SliceRange range) {
  T* near_table = thread.template shared<T>();
  const int near = matrix.table_size < kNearTable ? matrix.table_size : kNearTable;
  for (int i = thread.index(); i < near; i += thread.size()) near_table[i] = matrix.table[i];
  thread.sync_block();
  const int stride = thread.blocks() * thread.warps();
  int number = range.begin + thread.block() * thread.warps() + thread.warp();
  for (; number < range.end; number += stride) {
    encoded_slice<Loads, height, vectors, ahead>(thread, matrix, number, matrix.slices[number],
                                                 near_table, step);
  }
}

}  // namespace strata::gpu
