// Products that add to elements of y all over, on a GPU: y = Aᵀx or Aᴴx from the rows of A, and
// those of a symmetric matrix from its lower triangle. A warp goes through the rows of a part in
// order and adds to its window (scatter_split.hpp); the columns of a row differ, so its threads
// never meet. scatter_windows_step then adds up the windows and ends the step. There are no
// atomics, so that bits do not depend on who comes first.
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/scatter_split.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

// What an entry of A is in Aᵀ.
enum class Mirror { same, negative, conjugate };

template <class R>
STRATA_DEVICE R mirrored(R value, Mirror mirror) {
  return mirror == Mirror::negative ? -value : value;
}
template <class R>
STRATA_DEVICE Complex<R> mirrored(Complex<R> value, Mirror mirror) {
  return {mirror == Mirror::negative ? -value.re : value.re,
          mirror == Mirror::same ? value.im : -value.im};
}

template <class T>
struct ScatterView {
  CsrView<T> csr;
  const ScatterPart* parts = nullptr;
  std::int32_t part_count = 0;
  const std::int64_t* tiles = nullptr;
  const std::int32_t* tile_parts = nullptr;
  std::int32_t outputs = 0;  // the elements of y
  Mirror mirror = Mirror::same;
  T* windows = nullptr;  // of one step at a time; an element per vector each
};

// One row of a part: its entries times its own x into the window and, with kRows, its sum too.
template <class Loads, bool kRows, int vectors, class Thread, class T>
STRATA_DEVICE void scatter_row(Thread& thread, const ScatterView<T>& matrix,
                               const StepArguments<T>& step, std::int64_t row, T* window,
                               std::int32_t first_element) {
  T own[vectors];
  T sums[vectors] = {};
  STRATA_UNROLL
  for (int v = 0; v < vectors; ++v) {
    own[v] = step.x[element<vectors>(row, step.count) + (vectors == 1 || v < step.count ? v : 0)];
  }
  const std::int64_t end = matrix.csr.row_offsets[row + 1];
  for (std::int64_t k = matrix.csr.row_offsets[row] + thread.lane(); k < end;
       k += Thread::warp_size) {
    const std::int64_t column = Loads::load(thread, matrix.csr.columns + k);
    const T value = Loads::load(thread, matrix.csr.values + k);
    const T across = mirrored(value, matrix.mirror);
    T* to = window + element<vectors>(column - first_element, step.count);
    const T* from = step.x + element<vectors>(column, step.count);
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      if (vectors > 1 && v >= step.count) break;
      if constexpr (kRows) sums[v] = multiply_add(value, from[v], sums[v]);
      if (!kRows || column != row) to[v] = multiply_add(across, own[v], to[v]);
    }
  }
  if constexpr (kRows) {
    T* to = window + element<vectors>(row - first_element, step.count);
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      const T sum = sum_of_lanes(thread, 1, sums[v]);
      // No entry of the row but that of the diagonal is in this column.
      if (thread.lane() == 0 && v < step.count) to[v] = add(to[v], sum);
    }
  }
}

template <class Loads, bool kRows, int vectors, class Thread, class T>
STRATA_DEVICE void scatter_step(Thread& thread, const ScatterView<T>& matrix,
                                const StepArguments<T>& step) {
  const int stride = thread.blocks() * thread.warps();
  for (int number = thread.block() * thread.warps() + thread.warp(); number < matrix.part_count;
       number += stride) {
    const ScatterPart part = matrix.parts[number];
    const ScatterPart next = matrix.parts[number + 1];
    T* window = matrix.windows + part.window * step.count;
    for (std::int64_t i = thread.lane(); i < (next.window - part.window) * step.count;
         i += Thread::warp_size) {
      window[i] = T{};
    }
    thread.sync_warp();
    for (std::int64_t row = part.first_row; row < next.first_row; ++row) {
      scatter_row<Loads, kRows, vectors>(thread, matrix, step, row, window, part.first_element);
      thread.sync_warp();
    }
  }
}

// Ends the step, a thread per element of y.
template <class Thread, class T>
STRATA_DEVICE void scatter_windows_step(Thread& thread, const ScatterView<T>& matrix,
                                        const StepArguments<T>& step) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  for (std::int64_t i = static_cast<std::int64_t>(thread.block()) * thread.size() + thread.index();
       i < matrix.outputs; i += stride) {
    const std::int64_t tile = i / kScatterTile;
    for (int v = 0; v < step.count; ++v) {
      T sum{};
      for (std::int64_t k = matrix.tiles[tile]; k < matrix.tiles[tile + 1]; ++k) {
        const ScatterPart part = matrix.parts[matrix.tile_parts[k]];
        const std::int64_t end = matrix.parts[matrix.tile_parts[k] + 1].window;
        const std::int64_t place = part.window + (i - part.first_element);
        if (place < part.window || place >= end) continue;
        sum = add(sum, matrix.windows[place * step.count + v]);
      }
      finish(step, i * step.count + v, sum);
    }
  }
}

}  // namespace strata::gpu
