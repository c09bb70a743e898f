// SELL-C-σ on a GPU: one step of a recurrence on a range of slices, for any C that divides the
// warp: a warp per slice, or several slices per warp where slices are low.
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/slice.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

// Lower slices would leave most of a warp idle that has but one of them.
inline constexpr int kLowestWholeWarpSlice = 8;

template <class Loads, int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void sell_step(Thread& thread, const SellView<T>& matrix,
                             const StepArguments<T>& step, SliceRange range) {
  const int stride = thread.blocks() * thread.warps();
  for (int number = range.begin + thread.block() * thread.warps() + thread.warp();
       number < range.end; number += stride) {
    const std::int64_t first = matrix.slice_offsets[number];
    const auto width = static_cast<int>((matrix.slice_offsets[number + 1] - first) / height);
    const IndexColumns<Loads, height> columns{matrix.columns + first};
    T sums[vectors] = {};
    const FullValues<Loads, height, T> values{matrix.values + first};
    multiply<Loads, height, vectors, ahead>(thread, values, width, columns, step.x, step.count,
                                            sums);
    finish_slice<height>(thread, {number * height, matrix.rows, matrix.row_of_slot}, step, sums,
                         [&](int row, int v) {
                           const std::int32_t length = matrix.row_lengths[number * height + row];
                           return sum_without_padding<height>(
                               thread, values, width, columns, row, step.x + v, step.count,
                               [&](int entry) { return entry < length; });
                         });
  }
}

// A row of a low slice, for add_products().
template <class Loads, class T>
struct SlotEntries {
  const std::int32_t* columns;  // of its first entry
  const T* values;
  int height;

  template <class Thread>
  STRATA_DEVICE std::int32_t column(Thread& thread, int entry) const {
    return Loads::load(thread, columns + static_cast<std::int64_t>(entry) * height);
  }
  template <class Thread>
  STRATA_DEVICE T value(Thread& thread, int entry) const {
    return Loads::load(thread, values + static_cast<std::int64_t>(entry) * height);
  }
};

// Slices of `height` rows with `threads` threads per row, as many slices per warp as that leaves
// room for. Neighbouring threads read neighbours in memory, and stop where the padding of their row
// begins. Both numbers are powers of two whose product is at most the warp.
template <class Loads, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void low_sell_step(Thread& thread, const SellView<T>& matrix, int height, int threads,
                                 const StepArguments<T>& step, SliceRange range) {
  const int lanes = height * threads;
  const int slices_of_warp = Thread::warp_size / lanes;
  const int row_of_slice = thread.lane() % height;
  const int part = thread.lane() % lanes / height;
  const std::int64_t stride =
      static_cast<std::int64_t>(thread.blocks()) * thread.warps() * slices_of_warp;
  const std::int64_t number =
      static_cast<std::int64_t>(thread.block()) * thread.warps() + thread.warp();
  // Threads without a row stay for the shuffles.
  for (std::int64_t first = range.begin + number * slices_of_warp; first < range.end;
       first += stride) {
    const std::int64_t slice = first + thread.lane() / lanes;
    const std::int64_t slot = slice * height + row_of_slice;
    const bool has_row = slice < range.end && slot < matrix.rows;
    // A matrix without entries has no arrays to point into.
    const auto length = has_row ? matrix.row_lengths[slot] : 0;
    T sums[vectors] = {};
    if (length > 0) {
      const std::int64_t place = matrix.slice_offsets[slice] + row_of_slice;
      const EveryNth<SlotEntries<Loads, T>> entries{
          {matrix.columns + place, matrix.values + place, height}, part, threads};
      add_products<Loads, 1, vectors, ahead>(thread, 0, 0, entries.count(length), entries, step.x,
                                             step.count, sums);
    }
    const std::int64_t row =
        has_row && matrix.row_of_slot != nullptr ? matrix.row_of_slot[slot] : slot;
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      T sum = sums[v];
      for (int delta = lanes / 2; delta >= height; delta /= 2) {
        sum = add(sum, shuffle_down(thread, sum, delta, lanes));
      }
      if (has_row && part == 0 && v < step.count) {
        finish(step, element<vectors>(row, step.count) + v, sum);
      }
    }
  }
}

}  // namespace strata::gpu
