// ELLPACK on a GPU: one step of a recurrence on a range of rows. Neighbouring threads read
// neighbours in memory at every entry.
//
// - ell_step: a thread per row. Padding is multiplied like any entry, see slice.hpp: rows that come
//   out not finite are summed once more without it.
// - ell_groups_step: several threads of a block per row, or of several blocks, which stop where the
//   padding begins (group_rules.hpp names the source). Their sums are added in the order of the
//   groups, by way of shared memory; those of several blocks by ell_partials_step.
#pragma once

#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/kernels/gpu/group_rules.hpp"
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

// A block does `groups` parts of as many rows as its threads are enough for. Needs an element of
// shared memory per thread, and of `partials` one per vector, block of a row and row if rows have
// several blocks.
template <class Loads, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void ell_groups_step(Thread& thread, const EllView<T>& matrix,
                                   const EllGroups& shared_out, const StepArguments<T>& step,
                                   RowRange<std::int32_t> rows, T* partials) {
  T* sums_of_groups = thread.template shared<T>();
  const int rows_of_block = thread.size() / shared_out.groups;
  const int own = thread.index() % rows_of_block;
  const int group = thread.index() / rows_of_block;
  const int per_row = shared_out.blocks_per_row;
  const std::int64_t tiles =
      (static_cast<std::int64_t>(rows.end) - rows.begin + rows_of_block - 1) / rows_of_block;
  for (std::int64_t item = thread.block(); item < tiles * per_row; item += thread.blocks()) {
    const std::int64_t row = rows.begin + item / per_row * rows_of_block + own;
    const auto block_of_row = static_cast<int>(item % per_row);
    const bool has_row = row < rows.end;
    T sums[vectors] = {};
    if (has_row) {
      const EveryNth<EllEntries<Loads, T>> entries{
          {matrix.columns, matrix.values, row, matrix.rows},
          block_of_row * shared_out.groups + group,
          shared_out.groups * per_row};
      add_products<Loads, 1, vectors, ahead>(thread, 0, 0, entries.count(matrix.row_lengths[row]),
                                             entries, step.x, step.count, sums);
    }
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      if (vectors > 1 && v >= step.count) break;
      sums_of_groups[thread.index()] = sums[v];
      thread.sync_block();
      if (group == 0 && has_row) {
        T sum = sums[v];
        for (int other = 1; other < shared_out.groups; ++other) {
          sum = add(sum, sums_of_groups[other * rows_of_block + own]);
        }
        if (per_row == 1) {
          finish(step, element<vectors>(row, step.count) + v, sum);
        } else {
          partials[(row * per_row + block_of_row) * step.count + v] = sum;
        }
      }
      thread.sync_block();
    }
  }
}

// Ends rows of several blocks, a thread per row and vector.
template <class Thread, class T>
STRATA_DEVICE void ell_partials_step(Thread& thread, int blocks_per_row,
                                     const StepArguments<T>& step, RowRange<std::int32_t> rows,
                                     const T* partials) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  const std::int64_t end = static_cast<std::int64_t>(rows.end) * step.count;
  for (std::int64_t i = static_cast<std::int64_t>(rows.begin) * step.count +
                        static_cast<std::int64_t>(thread.block()) * thread.size() + thread.index();
       i < end; i += stride) {
    const std::int64_t row = i / step.count;
    const std::int64_t v = i - row * step.count;
    T sum{};
    for (int block = 0; block < blocks_per_row; ++block) {
      sum = add(sum, partials[(row * blocks_per_row + block) * step.count + v]);
    }
    finish(step, i, sum);
  }
}

}  // namespace strata::gpu
