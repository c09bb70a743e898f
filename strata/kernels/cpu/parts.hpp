// How the rows of a matrix are shared out to threads, for each format that has a step: about the
// same number of stored values each, cut where the step may begin and end.
#pragma once

#include <algorithm>
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

// The first of `count` numbers 0, 1, … that is not before what is looked for, or `count`.
template <class IsBefore>
Offset bisect(Offset count, const IsBefore& is_before) {
  Offset first = 0;
  while (first < count) {
    const Offset middle = first + (count - first) / 2;
    if (is_before(middle)) {
      first = middle + 1;
    } else {
      count = middle;
    }
  }
  return first;
}

// Diagonals never become longer: those of at least `slot` slots come first.
template <Value V, Index I>
Offset entries_before(const Jds<V, I>& matrix, Offset slot) {
  const std::span<const Offset> offsets = matrix.diagonal_offsets();
  const Offset whole = bisect(matrix.diagonals(), [&](Offset diagonal) {
    return offsets[diagonal + 1] - offsets[diagonal] >= slot;
  });
  return whole * slot + offsets.back() - offsets[whole];
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
template <Value V, Index I>
RowRange<I> balanced_rows(const Bcsr<V, I>& matrix, int part, int parts) {
  const Chunk block_rows = balanced_chunk_of(matrix.block_row_offsets(), part, parts);
  const auto row_before = [&](Offset block_row) {
    return static_cast<I>(std::min<Offset>(block_row * matrix.block_rows(), matrix.rows()));
  };
  return {row_before(block_rows.begin), row_before(block_rows.end)};
}

// These store as many values for each row.
template <Value V, Index I>
RowRange<I> balanced_rows(const Ell<V, I>& matrix, int part, int parts) {
  const Chunk rows = chunk_of(matrix.rows(), part, parts);
  return {static_cast<I>(rows.begin), static_cast<I>(rows.end)};
}
template <Value V, Index I>
RowRange<I> balanced_rows(const Dia<V, I>& matrix, int part, int parts) {
  const Chunk rows = chunk_of(matrix.rows(), part, parts);
  return {static_cast<I>(rows.begin), static_cast<I>(rows.end)};
}

// Slots.
template <Value V, Index I>
RowRange<I> balanced_rows(const Jds<V, I>& matrix, int part, int parts) {
  const auto first_slot = [&](int of_part) {
    if (of_part == parts) return matrix.rows();
    const Offset target = chunk_of(matrix.nnz(), of_part, parts).begin;
    return static_cast<I>(detail::bisect(
        matrix.rows(), [&](Offset slot) { return detail::entries_before(matrix, slot) < target; }));
  };
  return {first_slot(part), first_slot(part + 1)};
}

// Rows of blocks by their entries, and their rows by number: only all blocks of a row of blocks
// together know how many entries a row has.
template <Value V, Index I>
RowRange<I> balanced_rows(const BlockedCoo<V, I>& matrix, int part, int parts) {
  const auto row_before = [&](int share) -> I {
    const Offset before =
        matrix.nnz() / parts * share + std::min<Offset>(matrix.nnz() % parts, share);
    if (share == 0) return 0;  // rows before the first entry are somebody's, too
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
