// SELL-C-σ on a GPU: one step of a recurrence on a range of slices, a warp per slice, for any C
// that divides the warp.
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/slice.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

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

}  // namespace strata::gpu
