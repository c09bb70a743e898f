// CSR on a GPU for rows of any lengths: one step of a recurrence, in parts that have about the same
// number of entries whatever the lengths of the rows (csr_split.hpp makes them). A warp does a
// part.
//
// - Several rows: the warp multiplies the entries in the order of memory, all of them in flight at
//   once, leaves the products in shared memory and then adds up its rows from there, as in
//   CSR-Stream (Greathouse and Daga, Efficient sparse matrix-vector multiplication on GPUs using
//   the CSR storage format, SC 2014).
// - One row that is too long for that: the warp adds it up on its way.
// - A piece of a row that is even longer: the same, but its sum is a partial one. A second launch,
//   csr_long_rows_step, adds up the partial sums of each such row. That is nothing beside a matrix
//   for which this kernel is the choice, and no piece has to tell others of its sum: that empties
//   the L1 cache, which holds what the parts share of x.
//
// There is one order in which a row is added up, and it does not depend on the range of rows.
#pragma once

#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/kernels/gpu/csr.hpp"
#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

// The largest power of two of threads per row that does so many rows at once, at least 1.
STRATA_DEVICE int threads_per_row(int warp_size, int rows) {
  int threads = warp_size;
  while (threads > 1 && threads * rows > warp_size) threads /= 2;
  return threads;
}

// Adds up the rows of a part from its products, and writes those of vector `v` in the range.
template <class Thread, class T>
STRATA_DEVICE void sum_rows(Thread& thread, const CsrPartsView<T>& matrix,
                            const StepArguments<T>& step, const CsrPart& part, const CsrPart& next,
                            RowRange<std::int32_t> rows, const T* products, int v) {
  const int threads = threads_per_row(Thread::warp_size, next.first_row - part.first_row);
  for (std::int64_t first = part.first_row; first < next.first_row;
       first += Thread::warp_size / threads) {
    const std::int64_t row = first + thread.lane() / threads;
    T sum{};
    if (row < next.first_row) {
      const auto end = static_cast<int>(matrix.csr.row_offsets[row + 1] - part.first_entry);
      for (int k = static_cast<int>(matrix.csr.row_offsets[row] - part.first_entry) +
                   thread.lane() % threads;
           k < end; k += threads) {
        sum = add(sum, products[k]);
      }
    }
    sum = sum_of_group(thread, threads, sum);
    const bool writes = row < next.first_row && rows.begin <= row && row < rows.end;
    if (writes && thread.lane() % threads == 0) {
      finish(step, row * step.count + v, sum);
    }
  }
}

template <class Loads, class Thread, class T>
STRATA_DEVICE void several_rows(Thread& thread, const CsrPartsView<T>& matrix,
                                const StepArguments<T>& step, const CsrPart& part,
                                const CsrPart& next, RowRange<std::int32_t> rows) {
  T* products = thread.template shared<T>() + thread.warp() * products_of_part(Thread::warp_size);
  const auto entries = static_cast<int>(next.first_entry - part.first_entry);
  std::int32_t columns[kEntriesPerThread] = {};
  T values[kEntriesPerThread] = {};
  STRATA_UNROLL
  for (int u = 0; u < kEntriesPerThread; ++u) {
    const int k = u * Thread::warp_size + thread.lane();
    if (k >= entries) continue;
    columns[u] = Loads::load(thread, matrix.csr.columns + part.first_entry + k);
    values[u] = Loads::load(thread, matrix.csr.values + part.first_entry + k);
  }
  for (int v = 0; v < step.count; ++v) {
    STRATA_UNROLL
    for (int u = 0; u < kEntriesPerThread; ++u) {
      const int k = u * Thread::warp_size + thread.lane();
      if (k >= entries) continue;
      const T factor = step.x[static_cast<std::int64_t>(columns[u]) * step.count + v];
      products[k] = multiply_add(values[u], factor, T{});
    }
    thread.sync_warp();
    sum_rows(thread, matrix, step, part, next, rows, products, v);
    thread.sync_warp();
  }
}

// The row from its partial sums, by a warp.
template <class Thread, class T>
STRATA_DEVICE void end_long_row(Thread& thread, const CsrPartsView<T>& matrix,
                                const StepArguments<T>& step, std::int32_t row,
                                std::int32_t first_partial, std::int32_t end_partial) {
  for (int v = 0; v < step.count; ++v) {
    T sum{};
    for (std::int32_t k = first_partial + thread.lane(); k < end_partial; k += Thread::warp_size) {
      sum = add(sum, matrix.partials[static_cast<std::int64_t>(k) * step.count + v]);
    }
    sum = sum_of_lanes(thread, 1, sum);
    if (thread.lane() == 0) finish(step, static_cast<std::int64_t>(row) * step.count + v, sum);
  }
}

template <class Loads, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void piece_of_row(Thread& thread, const CsrPartsView<T>& matrix,
                                const StepArguments<T>& step, const CsrPart& part,
                                const CsrPart& next) {
  T sums[vectors] = {};
  add_products<Loads, Thread::warp_size, vectors, ahead>(
      thread, thread.lane(), part.first_entry, next.first_entry,
      CsrEntries<Loads, T>{matrix.csr.columns, matrix.csr.values}, step.x, step.count, sums);
  STRATA_UNROLL
  for (int v = 0; v < vectors; ++v) {
    const T sum = sum_of_lanes(thread, 1, sums[v]);
    if (thread.lane() != 0 || v >= step.count) continue;
    if (part.partial >= 0) {
      matrix.partials[static_cast<std::int64_t>(part.partial) * step.count + v] = sum;
    } else {
      finish(step, static_cast<std::int64_t>(part.first_row) * step.count + v, sum);
    }
  }
}

// The parts that hold the rows; of the first and the last part some rows may be others.
template <class Loads, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void csr_parts_step(Thread& thread, const CsrPartsView<T>& matrix,
                                  const StepArguments<T>& step, PartRange range,
                                  RowRange<std::int32_t> rows) {
  const int stride = thread.blocks() * thread.warps();
  for (int number = range.begin + thread.block() * thread.warps() + thread.warp();
       number < range.end; number += stride) {
    const CsrPart part = matrix.parts[number];
    const CsrPart next = matrix.parts[number + 1];
    if (next.first_entry - part.first_entry <= products_of_part(Thread::warp_size) &&
        part.partial < 0) {
      several_rows<Loads>(thread, matrix, step, part, next, rows);
    } else {
      piece_of_row<Loads, vectors, ahead>(thread, matrix, step, part, next);
    }
  }
}

// Ends the rows whose partial sums csr_parts_step has left, a warp per row.
template <class Thread, class T>
STRATA_DEVICE void csr_long_rows_step(Thread& thread, const CsrPartsView<T>& matrix,
                                      const StepArguments<T>& step, PartRange long_rows) {
  const int stride = thread.blocks() * thread.warps();
  for (int number = long_rows.begin + thread.block() * thread.warps() + thread.warp();
       number < long_rows.end; number += stride) {
    const LongRow row = matrix.long_rows[number];
    const std::int32_t end = matrix.long_rows[number + 1].first_partial;
    end_long_row(thread, matrix, step, row.row, row.first_partial, end);
  }
}

}  // namespace strata::gpu
