// SELL-C-σ on a GPU: one step of a recurrence on a range of slices, a warp per slice, for any C
// that divides the warp.
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/slice.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

// A row of one vector without its padding.
template <int height, class T>
STRATA_DEVICE_RARE T sum_of_entries(const SellView<T>& matrix, std::int32_t number, int row,
                                    const T* x, int count) {
  const std::int64_t first = matrix.slice_offsets[number] + row;
  const std::int32_t length = matrix.row_lengths[number * height + row];
  T sum{};
  for (std::int32_t entry = 0; entry < length; ++entry) {
    const std::int64_t position = first + static_cast<std::int64_t>(entry) * height;
    const auto from = static_cast<std::int64_t>(matrix.columns[position]) * count;
    sum = multiply_add(matrix.values[position], x[from], sum);
  }
  return sum;
}

template <int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void sell_step(Thread& thread, const SellView<T>& matrix,
                             const StepArguments<T>& step, SliceRange range) {
  const int stride = thread.blocks() * thread.warps();
  for (int number = range.begin + thread.block() * thread.warps() + thread.warp();
       number < range.end; number += stride) {
    const std::int64_t first = matrix.slice_offsets[number];
    const auto width = static_cast<int>((matrix.slice_offsets[number + 1] - first) / height);
    T sums[vectors] = {};
    multiply<FromMemory, height, vectors, ahead>(
        thread, matrix.values + first, width,
        IndexColumns<FromMemory, height>{matrix.columns + first}, step.x, step.count, sums);
    finish_slice<height>(thread, {number * height, matrix.rows, matrix.row_of_slot}, step, sums,
                         [&](int row, int v) {
                           return sum_of_entries<height>(matrix, number, row, step.x + v,
                                                         step.count);
                         });
  }
}

}  // namespace strata::gpu
