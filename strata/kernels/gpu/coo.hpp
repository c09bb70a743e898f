// COO on a GPU: one step of a recurrence, a warp per chunk of entries in row order (coo_split.hpp).
//
// A warp multiplies its entries side by side, the last of them in lane 0. While all of them are in
// one row its lanes add up on their own; when a row ends, a segmented scan leaves the sum of each
// row in the lane of its last entry, and what goes on in lane 0. No two warps write the same: the
// sums of a chunk's first and last row, where they are cut, go to places of the chunk. The warp
// that is the last to have left a piece of a row adds them up; where there are too many cut rows to
// count arrivals, a second launch does, coo_cut_rows_step. Atomics add up nothing, so that bits do
// not depend on who comes first.
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/arrivals.hpp"
#include "strata/kernels/gpu/coo_split.hpp"
#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/step.hpp"

namespace strata::gpu {

template <class T>
struct CooView {
  const std::int32_t* row_indices = nullptr;  // not decreasing
  const std::int32_t* columns = nullptr;
  const T* values = nullptr;
  std::int64_t entries = 0;
  std::int64_t chunk = 1;
  std::int32_t chunks = 0;
  const CutRow* cut_rows = nullptr;
  std::int32_t cut_row_count = 0;
  const std::int32_t* empty_rows = nullptr;
  std::int32_t empty_row_count = 0;
  // Of one step at a time: two per chunk and vector, of its first and last row.
  T* pieces = nullptr;
  // CooSplit::cut_into, and a counter per cut row, 0 between steps. Null: a second launch, of
  // coo_cut_rows_step, ends the cut rows.
  const std::int32_t* cut_into = nullptr;
  std::uint32_t* counters = nullptr;
};

// What a step does with the sum of a row: the whole of the step, or α times it added to what is
// there, for the second half of HYB.
struct WritesRows {
  static constexpr bool kEmptyRows = true;
  template <class T>
  STRATA_DEVICE static void finish_row(const StepArguments<T>& step, std::int64_t i, T sum) {
    finish(step, i, sum);
  }
};
struct AddsToRows {
  static constexpr bool kEmptyRows = false;
  template <class T>
  STRATA_DEVICE static void finish_row(const StepArguments<T>& step, std::int64_t i, T sum) {
    step.out[i] = multiply_add(step.alpha, sum, step.out[i]);
  }
};

// Iterations of a warp whose gathers are in flight together.
constexpr int coo_iterations_ahead(int vectors) {
  return vectors == 1 ? 4 : vectors == 2 ? 2 : 1;
}

// Entries of a chunk, and how it ends at both sides.
struct CooChunk {
  std::int64_t number;
  std::int64_t begin;
  std::int64_t end;
  std::int32_t first_row;
  std::int32_t last_row;
  bool begins_inside_row;
  bool ends_inside_row;

  template <class T>
  STRATA_DEVICE CooChunk(const CooView<T>& matrix, std::int64_t number_)
      : number(number_), begin(number_ * matrix.chunk) {
    end = begin + matrix.chunk < matrix.entries ? begin + matrix.chunk : matrix.entries;
    first_row = matrix.row_indices[begin];
    last_row = matrix.row_indices[end - 1];
    begins_inside_row = begin > 0 && matrix.row_indices[begin - 1] == first_row;
    ends_inside_row = end < matrix.entries && matrix.row_indices[end] == last_row;
  }
};

// Writes what a chunk has of a row.
template <class Rows, int vectors, class T>
STRATA_DEVICE void place_row(const CooView<T>& matrix, const StepArguments<T>& step,
                             const CooChunk& chunk, std::int32_t row, const T (&sums)[vectors]) {
  const bool first = row == chunk.first_row && chunk.begins_inside_row;
  const bool last = row == chunk.last_row && chunk.ends_inside_row;
  STRATA_UNROLL
  for (int v = 0; v < vectors; ++v) {
    if (vectors > 1 && v >= step.count) continue;
    if (first || last) {
      matrix.pieces[(2 * chunk.number + (first ? 0 : 1)) * step.count + v] = sums[v];
    } else {
      Rows::finish_row(step, element<vectors>(row, step.count) + v, sums[v]);
    }
  }
}

// Adds to each lane the sums of the higher lanes of the same row. Rows do not increase with lanes.
template <int vectors, class Thread, class T>
STRATA_DEVICE void scan_rows(Thread& thread, std::int32_t row, T (&sums)[vectors]) {
  STRATA_UNROLL
  for (int delta = 1; delta < Thread::warp_size; delta *= 2) {
    const std::int32_t other = thread.shuffle_down(row, delta, Thread::warp_size);
    const bool same = thread.lane() + delta < Thread::warp_size && other == row;
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      const T sum = shuffle_down(thread, sums[v], delta, Thread::warp_size);
      if (same) sums[v] = add(sums[v], sum);
    }
  }
}

template <class Loads, class Rows, int vectors, class Thread, class T>
STRATA_DEVICE void coo_chunk_step(Thread& thread, const CooView<T>& matrix,
                                  const StepArguments<T>& step, const CooChunk& chunk) {
  constexpr int warp = Thread::warp_size;
  constexpr int ahead = coo_iterations_ahead(vectors);
  T sums[vectors] = {};   // of the row that this lane is in
  T carry[vectors] = {};  // of that row in the iterations before, for the lane of the first entry
  for (std::int64_t first = chunk.begin; first < chunk.end; first += ahead * warp) {
    std::int32_t rows[ahead];
    T values[ahead];
    T factors[ahead][vectors];
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) {
      const std::int64_t entry = first + u * warp + (warp - 1 - thread.lane());
      const bool inside = entry < chunk.end;
      const std::int64_t at = inside ? entry : chunk.end - 1;
      rows[u] = Loads::load(thread, matrix.row_indices + at);
      values[u] = inside ? Loads::load(thread, matrix.values + at) : T{};
      const T* from =
          step.x + element<vectors>(Loads::load(thread, matrix.columns + at), step.count);
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        factors[u][v] = inside ? from[vectors == 1 || v < step.count ? v : 0] : T{};
      }
    }
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) {
      const std::int64_t begin = first + u * warp;
      if (begin >= chunk.end) break;
      const std::int64_t next = begin + warp;
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        sums[v] = multiply_add(values[u], factors[u][v], sums[v]);
      }
      // Rows do not decrease: the first and the last entry tell of all between them.
      const std::int64_t after = next + warp < chunk.end ? next + warp : chunk.end;
      if (next < chunk.end && matrix.row_indices[begin] == matrix.row_indices[after - 1]) continue;
      if (thread.lane() == warp - 1) {
        STRATA_UNROLL
        for (int v = 0; v < vectors; ++v) sums[v] = add(carry[v], sums[v]);
      }
      scan_rows(thread, rows[u], sums);
      const std::int64_t entry = next - 1 - thread.lane();
      // Lanes after the last entry may still hold what they had of its row before: lane 0 ends it.
      const bool ends_row =
          entry + 1 < chunk.end ? matrix.row_indices[entry + 1] != rows[u] : thread.lane() == 0;
      if (ends_row) place_row<Rows>(matrix, step, chunk, rows[u], sums);
      const bool goes_on =
          next < chunk.end && matrix.row_indices[next] == matrix.row_indices[next - 1];
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        const T last = shuffle(thread, sums[v], 0);
        carry[v] = goes_on ? last : T{};
        sums[v] = T{};
      }
    }
  }
}

// A cut row from its pieces, by `threads` neighbouring lanes. Those without a row stay for the
// shuffles.
template <class Rows, int threads, class Thread, class T>
STRATA_DEVICE void end_cut_row(Thread& thread, const CooView<T>& matrix,
                               const StepArguments<T>& step, const CutRow& cut, bool has_row) {
  const int part = thread.lane() % threads;
  const std::int32_t pieces = has_row ? cut.last_chunk - cut.first_chunk + 1 : 0;
  for (int v = 0; v < step.count; ++v) {
    T sum{};
    for (std::int32_t k = part; k < pieces; k += threads) {
      const std::int64_t chunk = cut.first_chunk + k;
      sum = add(sum, matrix.pieces[(2 * chunk + (k == 0 ? 1 : 0)) * step.count + v]);
    }
    sum = sum_of_group(thread, threads, sum);
    if (has_row && part == 0) {
      Rows::finish_row(step, static_cast<std::int64_t>(cut.row) * step.count + v, sum);
    }
  }
}

// Ends the rows that are cut at the ends of a chunk if all others have left their pieces, by the
// warp that has just written those of this chunk.
template <class Rows, class Thread, class T>
STRATA_DEVICE void arrive_with_chunk(Thread& thread, const CooView<T>& matrix,
                                     const StepArguments<T>& step, const CooChunk& chunk) {
  if (matrix.counters == nullptr || !(chunk.begins_inside_row || chunk.ends_inside_row)) return;
  // Lane 0 counts the chunk in for its first row, lane 1 for the last if that is another cut row.
  const bool one_row = chunk.begins_inside_row && chunk.first_row == chunk.last_row;
  const bool arrives = thread.lane() == 0   ? chunk.begins_inside_row
                       : thread.lane() == 1 ? chunk.ends_inside_row && !one_row
                                            : false;
  std::int32_t ended = -1;
  thread.sync_warp();
  if (arrives) {
    const std::int32_t number = matrix.cut_into[chunk.number + thread.lane()];
    const CutRow cut = matrix.cut_rows[number];
    if (arrives_last(thread, matrix.counters + number, cut.last_chunk - cut.first_chunk)) {
      ended = number;
    }
  }
  thread.sync_warp();
  for (int lane = 0; lane < 2; ++lane) {
    const std::int32_t number = thread.shuffle(ended, lane);
    if (number < 0) continue;
    end_cut_row<Rows, Thread::warp_size>(thread, matrix, step, matrix.cut_rows[number], true);
  }
}

template <class Rows, class Thread, class T>
STRATA_DEVICE void write_empty_rows(Thread& thread, const CooView<T>& matrix,
                                    const StepArguments<T>& step) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  for (std::int64_t i = static_cast<std::int64_t>(thread.block()) * thread.size() + thread.index();
       i < matrix.empty_row_count; i += stride) {
    const std::int64_t place = static_cast<std::int64_t>(matrix.empty_rows[i]) * step.count;
    for (int v = 0; v < step.count; ++v) Rows::finish_row(step, place + v, T{});
  }
}

template <class Loads, class Rows, int vectors, class Thread, class T>
STRATA_DEVICE void coo_step(Thread& thread, const CooView<T>& matrix,
                            const StepArguments<T>& step) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.warps();
  for (std::int64_t number =
           static_cast<std::int64_t>(thread.block()) * thread.warps() + thread.warp();
       number < matrix.chunks; number += stride) {
    const CooChunk chunk(matrix, number);
    coo_chunk_step<Loads, Rows, vectors>(thread, matrix, step, chunk);
    arrive_with_chunk<Rows>(thread, matrix, step, chunk);
  }
  if constexpr (Rows::kEmptyRows) write_empty_rows<Rows>(thread, matrix, step);
}

// Ends the rows whose pieces coo_step has left, `threads` neighbouring lanes per row.
template <class Rows, int threads, class Thread, class T>
STRATA_DEVICE void coo_cut_rows_step(Thread& thread, const CooView<T>& matrix,
                                     const StepArguments<T>& step) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  const std::int64_t number =
      static_cast<std::int64_t>(thread.block()) * thread.size() + thread.index();
  // Threads without a row stay for the shuffles.
  const std::int64_t all =
      (static_cast<std::int64_t>(matrix.cut_row_count) * threads + Thread::warp_size - 1) /
      Thread::warp_size * Thread::warp_size;
  for (std::int64_t i = number; i < all; i += stride) {
    const bool has_row = i / threads < matrix.cut_row_count;
    const CutRow cut = matrix.cut_rows[has_row ? i / threads : 0];
    end_cut_row<Rows, threads>(thread, matrix, step, cut, has_row);
  }
}

}  // namespace strata::gpu
