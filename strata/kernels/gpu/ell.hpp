// ELLPACK on a GPU: one step of a recurrence on a range of rows, a thread per row. Neighbouring
// threads read neighbours in memory at every entry.
//
// Padding is multiplied like any entry, see slice.hpp: rows that come out not finite are summed
// once more without it.
#pragma once

#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

// The entries of a row, for add_products().
template <class Loads, class T>
struct EllEntries {
  const std::int32_t* columns;  // of the matrix; without entries there are none, nor values
  const T* values;
  std::int64_t row;
  std::int64_t stride;

  template <class Thread>
  STRATA_DEVICE std::int32_t column(Thread& thread, int entry) const {
    return Loads::load(thread, columns + row + entry * stride);
  }
  template <class Thread>
  STRATA_DEVICE T value(Thread& thread, int entry) const {
    return Loads::load(thread, values + row + entry * stride);
  }
};

// A row of one vector without its padding, in the order of add_products().
template <class Loads, class Thread, class T>
STRATA_DEVICE T sum_of_first_entries(Thread& thread, const EllEntries<Loads, T>& row, int length,
                                     const T* x, int count) {
  T sum{};
  for (int entry = 0; entry < length; ++entry) {
    const auto from = static_cast<std::int64_t>(row.column(thread, entry)) * count;
    sum = multiply_add(row.value(thread, entry), x[from], sum);
  }
  return sum;
}

template <class Loads, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void ell_step(Thread& thread, const EllView<T>& matrix, const StepArguments<T>& step,
                            RowRange<std::int32_t> rows) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  const std::int64_t number =
      static_cast<std::int64_t>(thread.block()) * thread.size() + thread.index();
  for (std::int64_t row = rows.begin + number; row < rows.end; row += stride) {
    const EllEntries<Loads, T> entries{matrix.columns, matrix.values, row, matrix.rows};
    T sums[vectors] = {};
    add_products<Loads, 1, vectors, ahead>(thread, 0, 0, matrix.width, entries, step.x, step.count,
                                           sums);
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      if (vectors > 1 && v >= step.count) continue;
      if (!is_finite(sums[v])) {
        sums[v] =
            sum_of_first_entries(thread, entries, matrix.row_lengths[row], step.x + v, step.count);
      }
      finish(step, element<vectors>(row, step.count) + v, sums[v]);
    }
  }
}

}  // namespace strata::gpu
