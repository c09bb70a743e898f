// BCSR on a GPU: one step of a recurrence on a range of rows, `threads` neighbouring threads per
// row, each taking every so manyth block. The rows of a block row read all of its blocks together,
// which lie side by side in memory.
//
// Values that are no entries are multiplied like any other, see slice.hpp: if a row comes out not
// finite, its warp sums once more with entries alone.
#pragma once

#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/kernels/gpu/presence_view.hpp"
#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/step.hpp"

namespace strata::gpu {

template <class T>
struct BcsrView {
  const std::int64_t* block_row_offsets = nullptr;
  const std::int32_t* block_columns = nullptr;
  const T* values = nullptr;
  PresenceView presence;
  std::int32_t rows = 0;
  std::int32_t cols = 0;
  std::int32_t block_rows = 1;  // r
  std::int32_t block_cols = 1;  // c
};

// A row of a block, which has c = `block_cols` columns, or 0: the number that the matrix says.
// `is_entry(place)`: whether to multiply the value there.
template <class Loads, int block_cols, int vectors, class Thread, class T, class IsEntry>
STRATA_DEVICE void add_row_of_block(Thread& thread, const BcsrView<T>& matrix, std::int64_t block,
                                    std::int64_t row_of_block, const StepArguments<T>& step,
                                    const IsEntry& is_entry, T (&sums)[vectors]) {
  const int width = block_cols > 0 ? block_cols : matrix.block_cols;
  const std::int64_t first =
      static_cast<std::int64_t>(Loads::load(thread, matrix.block_columns + block)) * width;
  const std::int64_t place = (block * matrix.block_rows + row_of_block) * width;
  STRATA_UNROLL
  for (int j = 0; j < width; ++j) {
    const T value = Loads::load(thread, matrix.values + place + j);
    // The last block may go beyond the last column, with zeros.
    const bool multiplied = first + j < matrix.cols && is_entry(place + j);
    const T* from = step.x + element<vectors>(multiplied ? first + j : 0, step.count);
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      const T factor = from[vectors == 1 || v < step.count ? v : 0];
      sums[v] = multiplied ? multiply_add(value, factor, sums[v]) : sums[v];
    }
  }
}

template <class Loads, int block_cols, int vectors, class Thread, class T>
STRATA_DEVICE void bcsr_step(Thread& thread, const BcsrView<T>& matrix, int threads,
                             const StepArguments<T>& step, RowRange<std::int32_t> rows) {
  const int rows_of_warp = Thread::warp_size / threads;
  const int part = thread.lane() % threads;
  const std::int64_t stride =
      static_cast<std::int64_t>(thread.blocks()) * thread.warps() * rows_of_warp;
  const std::int64_t number =
      static_cast<std::int64_t>(thread.block()) * thread.warps() + thread.warp();
  // Threads without a row stay for the shuffles.
  for (std::int64_t first = rows.begin + number * rows_of_warp; first < rows.end; first += stride) {
    const std::int64_t row = first + thread.lane() / threads;
    const bool has_row = row < rows.end;
    const std::int64_t block_row = has_row ? row / matrix.block_rows : 0;
    const std::int64_t begin = has_row ? matrix.block_row_offsets[block_row] : 0;
    const std::int64_t end = has_row ? matrix.block_row_offsets[block_row + 1] : 0;
    const auto sum_where = [&](const auto& is_entry, T(&sums)[vectors]) {
      for (std::int64_t block = begin + part; block < end; block += threads) {
        add_row_of_block<Loads, block_cols, vectors>(
            thread, matrix, block, row - block_row * matrix.block_rows, step, is_entry, sums);
      }
      bool finite = true;
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        sums[v] = sum_of_group(thread, threads, sums[v]);
        // Lanes other than the first of a group have sums of other lanes.
        finite = finite && (part != 0 || is_finite(sums[v]));
      }
      return finite;
    };
    T sums[vectors] = {};
    const bool finite = sum_where([](std::int64_t) { return true; }, sums);
    if (thread.any(!finite)) {
      T again[vectors] = {};
      sum_where([&](std::int64_t place) { return matrix.presence.has(place); }, again);
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) sums[v] = is_finite(sums[v]) ? sums[v] : again[v];
    }
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      if (has_row && part == 0 && v < step.count) {
        finish(step, element<vectors>(row, step.count) + v, sums[v]);
      }
    }
  }
}

}  // namespace strata::gpu
