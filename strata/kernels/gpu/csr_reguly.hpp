// Reguly's kernel for CSR on a GPU (Efficient sparse matrix-vector multiplication on cache-based
// GPUs, 2012, figure 3): `coop` threads per row, and a block does `repeat` times as many
// consecutive rows as it holds at once, so that rows whose x is the same run on one multiprocessor.
//
// A run-time tuner varies the parameters between a user's products, and results must not change. A
// row therefore always has kMostCoop sums, of entries j, j + kMostCoop, …, which are added up in
// one tree; a thread holds kMostCoop/coop of them. What that costs are registers and additions of
// zeros where coop is small, and no memory traffic.
#pragma once

#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/kernels/gpu/csr_options.hpp"
#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

// The sum of a row's entries [begin, end) in the first of its `coop` threads, of which this one is
// number `part`. All threads of the warp take part.
template <class Loads, int coop, class Thread, class T>
STRATA_DEVICE T reguly_sum(Thread& thread, const CsrView<T>& matrix, std::int64_t begin,
                           std::int64_t end, int part, const T* x, int v, int count) {
  constexpr int held = kMostCoop / coop;
  constexpr int ahead = held < 8 ? held : 8;
  T sums[held] = {};
  for (std::int64_t base = begin + part; base < end; base += kMostCoop) {
    STRATA_UNROLL
    for (int first = 0; first < held; first += ahead) {
      if (base + first * coop >= end) continue;
      std::int32_t columns[ahead];
      T values[ahead];
      T factors[ahead];
      const auto inside = [&](int u) { return base + (first + u) * coop < end; };
      STRATA_UNROLL
      for (int u = 0; u < ahead; ++u) {
        const std::int64_t k = base + (first + u) * coop;
        columns[u] = inside(u) ? Loads::load(thread, matrix.columns + k) : 0;
        values[u] = inside(u) ? Loads::load(thread, matrix.values + k) : T{};
      }
      STRATA_UNROLL
      for (int u = 0; u < ahead; ++u) {
        const T* from = x + static_cast<std::int64_t>(columns[u]) * count + v;
        factors[u] = load_if(thread, inside(u), from, T{});
      }
      STRATA_UNROLL
      for (int u = 0; u < ahead; ++u) {
        sums[first + u] = multiply_add(values[u], factors[u], sums[first + u]);
      }
    }
  }
  STRATA_UNROLL
  for (int distance = held / 2; distance > 0; distance /= 2) {
    STRATA_UNROLL
    for (int j = 0; j < distance; ++j) sums[j] = add(sums[j], sums[j + distance]);
  }
  return sum_of_group(thread, coop, sums[0]);
}

// With reguly_blocks() blocks each of them has its rows; fewer take turns.
template <class Loads, int coop, class Thread, class T>
STRATA_DEVICE void csr_reguly_step(Thread& thread, const CsrView<T>& matrix,
                                   const StepArguments<T>& step, RowRange<std::int32_t> rows,
                                   int repeat) {
  const int at_once = thread.size() / coop;
  const int part = thread.index() % coop;
  const std::int64_t of_block = std::int64_t{repeat} * at_once;
  for (std::int64_t begin_of_block = rows.begin + thread.block() * of_block;
       begin_of_block < rows.end; begin_of_block += thread.blocks() * of_block) {
    // Threads without a row stay for the shuffles.
    std::int64_t first = begin_of_block;
    for (int r = 0; r < repeat && first < rows.end; ++r, first += at_once) {
      const std::int64_t row = first + thread.index() / coop;
      const bool has_row = row < rows.end;
      const std::int64_t begin = has_row ? matrix.row_offsets[row] : 0;
      const std::int64_t end = has_row ? matrix.row_offsets[row + 1] : 0;
      for (int v = 0; v < step.count; ++v) {
        const T sum =
            reguly_sum<Loads, coop>(thread, matrix, begin, end, part, step.x, v, step.count);
        if (has_row && part == 0) finish(step, row * step.count + v, sum);
      }
    }
  }
}

}  // namespace strata::gpu
