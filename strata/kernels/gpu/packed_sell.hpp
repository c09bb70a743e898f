// Packed SELL on a GPU: one step of a recurrence on a range of slices, a warp per slice.
#pragma once

#include <cstddef>
#include <cstdint>

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

// A row of one vector without its holes and padding.
template <int height, class Thread, class T>
STRATA_DEVICE T sum_of_entries(Thread& thread, const PackedSlice<T>& slice,
                               const std::uint64_t* presence, int row, const T* x, int count) {
  const auto is_entry = [&](int entry) {
    const std::uint64_t position =
        slice.position + static_cast<std::uint64_t>(entry) * height + static_cast<unsigned>(row);
    return presence == nullptr || (presence[position / 64] >> (position % 64) & 1) != 0;
  };
  T sum{};
  with_columns<FromCache, height>(slice, [&](const auto& columns) {
    sum = sum_without_padding<height>(thread, slice.values, slice.width, columns, row, x, count,
                                      is_entry);
  });
  return sum;
}

// One slice, by all threads of a warp.
template <class Loads, int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void packed_sell_slice(Thread& thread, const PackedSlice<T>& slice,
                                     const PackedRows& rows, const StepArguments<T>& step) {
  T sums[vectors] = {};
  multiply<Loads, height, vectors, ahead>(thread, slice, step.x, step.count, sums);
  finish_slice<height>(
      thread, {slice.first_slot, rows.rows, rows.row_of_slot}, step, sums, [&](int row, int v) {
        return sum_of_entries<height>(thread, slice, rows.presence, row, step.x + v, step.count);
      });
}

// The body of the kernel: warps go through the slices together, each loading its next header while
// it works on a slice.
template <class Loads, int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void packed_sell_step(Thread& thread, const PackedSellView<T>& matrix,
                                    const StepArguments<T>& step, SliceRange range) {
  const PackedRows rows{matrix.presence, matrix.row_of_slot, matrix.rows};
  const int stride = thread.blocks() * thread.warps();
  int number = range.begin + thread.block() * thread.warps() + thread.warp();
  if (number >= range.end) return;
  for (SliceHeader header = matrix.slices[number]; number < range.end;) {
    const int next = number + stride;
    const SliceHeader now = header;
    if (next < range.end) header = matrix.slices[next];
    packed_sell_slice<Loads, height, vectors, ahead>(
        thread,
        PackedSlice<T>{matrix.values + now.values, matrix.codes + now.codes * kCodeUnit,
                       now.width(), now.encoding(), number * height, now.values},
        rows, step);
    number = next;
  }
}

}  // namespace strata::gpu
