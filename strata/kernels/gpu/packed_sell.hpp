// Packed SELL on a GPU: one step of a recurrence on a range of slices, a warp per slice.
#pragma once

#include <cstddef>
#include <cstdint>

#include "strata/kernels/gpu/slice.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

// Slice `number` in device memory.
template <int height, class T>
STRATA_DEVICE PackedSlice<T> slice_at(const PackedSellView<T>& matrix, std::int32_t number) {
  const SliceHeader header = matrix.slices[number];
  return {matrix.values + header.values, matrix.codes + header.codes * kCodeUnit, header.width(),
          header.encoding(), number * height};
}

// A row of one vector without its holes and padding.
template <int height, class T>
STRATA_DEVICE_RARE T sum_of_entries(const PackedSellView<T>& matrix, std::int32_t number, int row,
                                    const T* x, int count) {
  const PackedSlice<T> slice = slice_at<height>(matrix, number);
  const std::uint64_t first =
      static_cast<std::uint64_t>(slice.values - matrix.values) + static_cast<unsigned>(row);
  T sum{};
  with_columns<FromCache, height>(slice, [&](const auto& columns) {
    int nobody = 0;  // loads from a cache ask no thread
    for (int entry = 0; entry < slice.width; ++entry) {
      const std::uint64_t position = first + static_cast<std::uint64_t>(entry) * height;
      if (matrix.presence != nullptr &&
          (matrix.presence[position / 64] >> (position % 64) & 1) == 0)
        continue;
      const auto from = static_cast<std::int64_t>(columns.at(nobody, entry, row)) * count;
      sum = multiply_add(matrix.values[position], x[from], sum);
    }
  });
  return sum;
}

// One slice, by all threads of a warp. `slice` is slice `number` of the matrix, or a copy of it
// that is nearer.
template <class Loads, int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void packed_sell_slice(Thread& thread, const PackedSellView<T>& matrix,
                                     const StepArguments<T>& step, std::int32_t number,
                                     const PackedSlice<T>& slice) {
  T sums[vectors] = {};
  multiply<Loads, height, vectors, ahead>(thread, slice, step.x, step.count, sums);
  finish_slice<height>(thread, {slice.first_slot, matrix.rows, matrix.row_of_slot}, step, sums,
                       [&](int row, int v) {
                         return sum_of_entries<height>(matrix, number, row, step.x + v, step.count);
                       });
}

// The body of the kernel: warps go through the slices together.
template <int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void packed_sell_step(Thread& thread, const PackedSellView<T>& matrix,
                                    const StepArguments<T>& step, SliceRange range) {
  const int stride = thread.blocks() * thread.warps();
  for (int number = range.begin + thread.block() * thread.warps() + thread.warp();
       number < range.end; number += stride) {
    packed_sell_slice<FromMemory, height, vectors, ahead>(thread, matrix, step, number,
                                                          slice_at<height>(matrix, number));
  }
}

}  // namespace strata::gpu
