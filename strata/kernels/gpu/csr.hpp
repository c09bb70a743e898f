// CSR on a GPU: one step of a recurrence on a range of rows, `threads` neighbouring threads per
// row. For rows of similar length; csr_parts.hpp is for all others.
#pragma once

#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

// The entries of the whole matrix, for add_products().
template <class Loads, class T>
struct CsrEntries {
  const std::int32_t* columns;
  const T* values;

  template <class Thread>
  STRATA_DEVICE std::int32_t column(Thread& thread, std::int64_t entry) const {
    return Loads::load(thread, columns + entry);
  }
  template <class Thread>
  STRATA_DEVICE T value(Thread& thread, std::int64_t entry) const {
    return Loads::load(thread, values + entry);
  }
};

template <class Loads, int threads, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void csr_step(Thread& thread, const CsrView<T>& matrix, const StepArguments<T>& step,
                            RowRange<std::int32_t> rows) {
  constexpr int rows_of_warp = Thread::warp_size / threads;
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.warps();
  const std::int64_t number =
      static_cast<std::int64_t>(thread.block()) * thread.warps() + thread.warp();
  const int part = thread.lane() % threads;
  // Threads without a row stay for the shuffles.
  for (std::int64_t first = rows.begin + number * rows_of_warp; first < rows.end;
       first += stride * rows_of_warp) {
    const std::int64_t row = first + thread.lane() / threads;
    const bool has_row = row < rows.end;
    T sums[vectors] = {};
    if (has_row) {
      add_products<Loads, threads, vectors, ahead>(
          thread, part, matrix.row_offsets[row], matrix.row_offsets[row + 1],
          CsrEntries<Loads, T>{matrix.columns, matrix.values}, step.x, step.count, sums);
    }
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      const T sum = sum_of_group(thread, threads, sums[v]);
      if (has_row && part == 0 && v < step.count) finish(step, row * step.count + v, sum);
    }
  }
}

}  // namespace strata::gpu
