// How the rows of a matrix are shared out to threads, for each format that has a step: about the
// same number of stored values each, cut where the step may begin and end.
#pragma once

#include <span>

#include "strata/base/parallel.hpp"
#include "strata/kernels/cpu/step.hpp"

namespace strata::cpu {

// The rows of part `part` of `parts`.
template <Value V, Index I>
RowRange<I> balanced_rows(const Csr<V, I>& matrix, int part, int parts) {
  const Chunk rows = balanced_chunk_of(matrix.row_offsets(), part, parts);
  return {static_cast<I>(rows.begin), static_cast<I>(rows.end)};
}

namespace detail {
template <class Sliced>
RowRange<typename Sliced::index_type> balanced_slices(const Sliced& matrix,
                                                      std::span<const Offset> offsets, int part,
                                                      int parts) {
  using I = typename Sliced::index_type;
  const Chunk slices = balanced_chunk_of(offsets, part, parts);
  const I alignment = row_alignment(matrix);
  const auto row_before = [&](Offset slice) {
    if (slice + 1 == static_cast<Offset>(offsets.size())) return matrix.rows();
    return static_cast<I>(slice * matrix.slice_height() / alignment * alignment);
  };
  return {row_before(slices.begin), row_before(slices.end)};
}
}  // namespace detail

template <Value V, Index I>
RowRange<I> balanced_rows(const Sell<V, I>& matrix, int part, int parts) {
  return detail::balanced_slices(matrix, matrix.slice_offsets(), part, parts);
}
template <Value V, Index I>
RowRange<I> balanced_rows(const PackedSell<V, I>& matrix, int part, int parts) {
  return detail::balanced_slices(matrix, matrix.entry_offsets(), part, parts);
}

// Rows of blocks by their entries, and their rows by number: only all blocks of a row of blocks
// together know how many entries a row has.
template <Value V, Index I>
RowRange<I> balanced_rows(const BlockedCoo<V, I>& matrix, int part, int parts) {
  const auto row_before = [&](int share) -> I {
    const Offset before =
        matrix.nnz() / parts * share + std::min<Offset>(matrix.nnz() % parts, share);
    if (share == parts) return matrix.rows();
    for (Offset down = 0; down < matrix.blocks_down(); ++down) {
      const Offset begin = matrix.block_offsets()[down * matrix.blocks_across()];
      const Offset end = matrix.block_offsets()[(down + 1) * matrix.blocks_across()];
      if (before >= end) continue;
      const Offset first = down * matrix.block_rows();
      const Offset rows = std::min<Offset>(matrix.block_rows(), matrix.rows() - first);
      const double inside = static_cast<double>(before - begin) / static_cast<double>(end - begin);
      return static_cast<I>(first + static_cast<Offset>(inside * static_cast<double>(rows)));
    }
    return matrix.rows();
  };
  return {row_before(part), row_before(part + 1)};
}

// Formats whose products run on threads.
template <class Matrix>
concept HasStep = requires(const Matrix& matrix) {
  step(matrix, {}, {}, matrix.all_rows());
  balanced_rows(matrix, 0, 1);
};

}  // namespace strata::cpu
