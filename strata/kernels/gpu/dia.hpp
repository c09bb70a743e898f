// DIA on a GPU: one step of a recurrence on a range of rows, a thread per row, the offsets of the
// diagonals in shared memory. Neighbouring threads read neighbours in memory, of the matrix and of
// x.
//
// Places without an entry are multiplied like any other, those outside the matrix by a neighbouring
// x, see slice.hpp: rows that come out not finite are summed once more with their entries alone.
#pragma once

#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/kernels/gpu/presence_view.hpp"
#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/step.hpp"

namespace strata::gpu {

template <class T>
struct DiaView {
  const std::int32_t* offsets = nullptr;
  const T* values = nullptr;
  PresenceView presence;
  std::int32_t rows = 0;
  std::int32_t cols = 0;
  std::int32_t diagonals = 0;
};

// Some of the diagonals in a row, for add_products().
template <class Loads, class T>
struct DiaEntries {
  const std::int32_t* offsets;  // of these diagonals
  const T* values;              // of the first of them, in this row
  std::int64_t row;
  std::int64_t rows;
  std::int64_t cols;

  template <class Thread>
  STRATA_DEVICE std::int64_t column(Thread&, int diagonal) const {
    const std::int64_t column = row + offsets[diagonal];
    return column < 0 ? 0 : column < cols ? column : cols - 1;
  }
  template <class Thread>
  STRATA_DEVICE T value(Thread& thread, int diagonal) const {
    return Loads::load(thread, values + diagonal * rows);
  }
};

// A row of one vector without places that hold no entry, in the order of add_products().
template <class T>
STRATA_DEVICE T sum_of_present(const DiaView<T>& matrix, std::int64_t row, const T* x, int count) {
  T sum{};
  for (std::int32_t diagonal = 0; diagonal < matrix.diagonals; ++diagonal) {
    const std::int64_t place = static_cast<std::int64_t>(diagonal) * matrix.rows + row;
    if (!matrix.presence.has(place)) continue;
    sum = multiply_add(matrix.values[place], x[(row + matrix.offsets[diagonal]) * count], sum);
  }
  return sum;
}

// Needs a 32-bit integer of shared memory per thread.
template <class Loads, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void dia_step(Thread& thread, const DiaView<T>& matrix, const StepArguments<T>& step,
                            RowRange<std::int32_t> rows) {
  auto* offsets = thread.template shared<std::int32_t>();
  const int threads = thread.size();
  for (std::int64_t first = rows.begin + static_cast<std::int64_t>(thread.block()) * threads;
       first < rows.end; first += static_cast<std::int64_t>(thread.blocks()) * threads) {
    const std::int64_t row = first + thread.index();
    const bool has_row = row < rows.end;
    T sums[vectors] = {};
    for (std::int64_t begin = 0; begin < matrix.diagonals; begin += threads) {
      const std::int64_t left = matrix.diagonals - begin;
      const auto some = static_cast<int>(left < threads ? left : threads);
      thread.sync_block();
      if (thread.index() < some) offsets[thread.index()] = matrix.offsets[begin + thread.index()];
      thread.sync_block();
      if (!has_row) continue;
      add_products<Loads, 1, vectors, ahead>(
          thread, 0, 0, some,
          DiaEntries<Loads, T>{offsets, matrix.values + begin * matrix.rows + row, row, matrix.rows,
                               matrix.cols},
          step.x, step.count, sums);
    }
    if (!has_row) continue;
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      if (vectors > 1 && v >= step.count) continue;
      if (!is_finite(sums[v])) sums[v] = sum_of_present(matrix, row, step.x + v, step.count);
      finish(step, element<vectors>(row, step.count) + v, sums[v]);
    }
  }
}

}  // namespace strata::gpu
