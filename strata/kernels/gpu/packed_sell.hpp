// Packed SELL on a GPU: one step of a recurrence on a range of slices, a warp per slice.
//
// Holes and padding are multiplied like any entry. They have the value 0, so this changes nothing
// unless their x is not finite; rows that come out not finite are summed once more without them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "strata/kernels/gpu/slice.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

template <int height, class T>
STRATA_DEVICE std::int32_t packed_column(const PackedSlice<T>& slice, int entry, int row) {
  int thread = 0;  // nobody asks it
  const auto* numbers = reinterpret_cast<const std::int32_t*>(slice.codes);
  const std::byte* deltas = slice.codes + delta_begin(height, slice.width);
  switch (slice.encoding) {
    case SliceEncoding::dia:
      return DiaColumns<FromCache>{numbers, slice.first_slot}.at(thread, entry, row);
    case SliceEncoding::delta8:
      return DeltaColumns<FromCache, height, std::uint8_t>{
          numbers, reinterpret_cast<const std::uint8_t*>(deltas)}
          .at(thread, entry, row);
    case SliceEncoding::delta16:
      return DeltaColumns<FromCache, height, std::uint16_t>{
          numbers, reinterpret_cast<const std::uint16_t*>(deltas)}
          .at(thread, entry, row);
    case SliceEncoding::index32: break;
  }
  return IndexColumns<FromCache, height>{numbers}.at(thread, entry, row);
}

// What the kernels need to know of the rows besides the slices.
struct PackedRows {
  const std::uint64_t* presence = nullptr;    // null when every stored value is an entry
  const std::int32_t* row_of_slot = nullptr;  // null when nothing is sorted
  std::int32_t rows = 0;
};

// A row of one vector without its holes and padding, summed in the same order.
template <int height, class Thread, class T>
STRATA_DEVICE T sum_of_entries(Thread&, const PackedSlice<T>& slice, const std::uint64_t* presence,
                               int row, const T* x, int count) {
  constexpr int parts = Thread::warp_size / height;
  T sums[parts] = {};
  for (int entry = 0; entry < slice.width; ++entry) {
    const int place = entry * height + row;
    const std::uint64_t position = slice.position + static_cast<unsigned>(place);
    if ((presence[position / 64] >> (position % 64) & 1) == 0) continue;
    const auto from = static_cast<std::int64_t>(packed_column<height>(slice, entry, row)) * count;
    STRATA_UNROLL
    for (int part = 0; part < parts; ++part) {
      if (part == entry % parts) {
        sums[part] = multiply_add(slice.values[place], x[from], sums[part]);
      }
    }
  }
  STRATA_UNROLL
  for (int half = parts / 2; half > 0; half /= 2) {
    STRATA_UNROLL
    for (int part = 0; part < half; ++part) sums[part] = add(sums[part], sums[part + half]);
  }
  return sums[0];
}

// One slice, by all threads of a warp.
template <class Loads, int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void packed_sell_slice(Thread& thread, const PackedSlice<T>& slice,
                                     const PackedRows& rows, const StepArguments<T>& step) {
  T sums[vectors] = {};
  multiply<Loads, height, vectors, ahead>(thread, slice, step.x, step.count, sums);
  STRATA_UNROLL
  for (int v = 0; v < vectors; ++v) sums[v] = sum_of_parts<height>(thread, sums[v]);
  const int row = thread.lane();
  const std::int32_t slot = slice.first_slot + row;
  if (row >= height || slot >= rows.rows) return;
  const std::int64_t place =
      element<vectors>(rows.row_of_slot != nullptr ? rows.row_of_slot[slot] : slot, step.count);
  STRATA_UNROLL
  for (int v = 0; v < vectors; ++v) {
    if (vectors > 1 && v >= step.count) break;
    T sum = sums[v];
    if (rows.presence != nullptr && !is_finite(sum)) {
      sum = sum_of_entries<height>(thread, slice, rows.presence, row, step.x + v, step.count);
    }
    finish(step, place + v, sum);
  }
}

// The body of the kernel: warps go through the slices together.
template <int height, int vectors, int ahead, class Thread, class T>
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
    packed_sell_slice<FromMemory, height, vectors, ahead>(
        thread,
        PackedSlice<T>{matrix.values + now.values, matrix.codes + now.codes * kCodeUnit,
                       now.width(), now.encoding(), number * height, now.values},
        rows, step);
    number = next;
  }
}

}  // namespace strata::gpu
