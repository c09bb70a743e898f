#include "strata/formats/jds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/internal/collect.hpp"
#include "strata/formats/internal/row_lengths.hpp"
#include "strata/formats/internal/slices.hpp"
#include "strata/formats/internal/validation.hpp"

namespace strata {

namespace {

constexpr LineNames kDiagonals{"diagonal", "column"};

template <Value V, Index I>
Footprint footprint_from(I rows, I diagonals, Offset entries) {
  constexpr std::string_view what = "the size of a JDS matrix";
  const Offset offsets = bytes_of<Offset>(checked_add<Offset>(diagonals, 1, what));
  return {.value_bytes = bytes_of<V>(entries),
          .index_bytes = checked_add(checked_add(bytes_of<I>(entries), bytes_of<I>(rows), what),
                                     offsets, what),
          .stored_entries = entries,
          .entries = entries};
}

// All rows, the longest first. A window of one row would mean that nothing is sorted.
template <Index I>
Array<I> longest_first(const PatternView<I>& pattern) {
  return sort_rows_by_length(pattern, std::max<I>(pattern.rows, 2));
}

// Slots are in the order of their lengths: a diagonal ends before the first slot without it.
template <Index I>
Array<Offset> diagonal_offsets_of(const SlottedPattern<I>& slots) {
  const Offset diagonals = slots.length(0);
  Array<Offset> offsets(diagonals + 1);
  Offset length = slots.pattern.rows;
  offsets[0] = 0;
  for (Offset diagonal = 0; diagonal < diagonals; ++diagonal) {
    while (slots.length(length - 1) <= diagonal) --length;
    offsets[diagonal + 1] = offsets[diagonal] + length;
  }
  return offsets;
}

template <Index I>
void require_every_row(I rows, std::span<const I> row_of_slot) {
  require_size("rows by slot", row_of_slot.size(), rows);
  Array<unsigned char> seen(rows, 0);
  for (std::size_t slot = 0; slot < row_of_slot.size(); ++slot) {
    const I row = row_of_slot[slot];
    if (row < 0 || row >= rows) {
      throw InvalidMatrix(fmt::format("slot {}: row {} is outside 0 … {}", slot, row, rows - 1));
    }
    if (seen[row]++ != 0) throw InvalidMatrix(fmt::format("slot {}: row {} again", slot, row));
  }
}

// Their offsets are known not to decrease.
void require_shrinking(Offset rows, std::span<const Offset> diagonal_offsets) {
  Offset before = rows;
  for (std::size_t diagonal = 0; diagonal + 1 < diagonal_offsets.size(); ++diagonal) {
    const Offset length = diagonal_offsets[diagonal + 1] - diagonal_offsets[diagonal];
    if (length > before || length == 0) {
      throw InvalidMatrix(
          fmt::format("diagonal {}: {} entries after {}", diagonal, length, before));
    }
    before = length;
  }
}

}  // namespace

template <Value V, Index I>
Jds<V, I>::Jds(I rows, I cols, Array<I> row_of_slot, Array<Offset> diagonal_offsets,
               Array<I> columns, Array<V> values)
    : cols_(cols),
      row_of_slot_(std::move(row_of_slot)),
      diagonal_offsets_(std::move(diagonal_offsets)),
      columns_(std::move(columns)),
      values_(std::move(values)) {
  validate(rows);
}

template <Value V, Index I>
void Jds<V, I>::validate(I rows) const {
  require_shape(rows, cols_);
  require_every_row<I>(rows, row_of_slot_);
  require_size("columns", columns_.size(), nnz());
  const Offset diagonals = std::max<Offset>(std::ssize(diagonal_offsets_) - 1, 0);
  require_offsets(kDiagonals, diagonals, diagonal_offsets_, columns_.size());
  require_shrinking(rows, diagonal_offsets_);
  parallel_for(rows, [&](Offset slot) {
    Offset length = 0;
    while (length < diagonals && slot < diagonal_offsets_[length + 1] - diagonal_offsets_[length]) {
      ++length;
    }
    require_increasing(kRows, row_of_slot_[slot], length, cols_, [&](Offset diagonal) {
      return Offset{columns_[diagonal_offsets_[diagonal] + slot]};
    });
  });
}

template <Value V, Index I>
Footprint Jds<V, I>::footprint_of(const Csr<V, I>& matrix) {
  return footprint_from<V>(matrix.rows(), longest_row(matrix.pattern()), matrix.nnz());
}

template <Value V, Index I>
Jds<V, I> Jds<V, I>::from_csr(const Csr<V, I>& matrix) {
  Jds jds;
  jds.cols_ = matrix.cols();
  jds.row_of_slot_ = longest_first(matrix.pattern());
  const SlottedPattern<I> slots{matrix.pattern(), jds.row_of_slot_};
  jds.diagonal_offsets_ = diagonal_offsets_of(slots);
  jds.columns_.resize(matrix.nnz());
  jds.values_.resize(matrix.nnz());
  // Slot by slot within a piece of a diagonal, so that threads write next to each other.
  parallel_chunks(matrix.rows(), [&](Offset begin, Offset end) {
    for (I diagonal = 0; diagonal < jds.diagonals(); ++diagonal) {
      for (Offset slot = begin; slot < end && jds.has(static_cast<I>(slot), diagonal); ++slot) {
        const Offset place = jds.position(static_cast<I>(slot), diagonal);
        const Offset source = slots.source(slot) + diagonal;
        jds.columns_[place] = matrix.columns()[source];
        jds.values_[place] = matrix.values()[source];
      }
    }
  });
  return jds;
}

template <Value V, Index I>
Csr<V, I> Jds<V, I>::to_csr() const {
  return collect_rows<V, I>(rows(), cols_, [&](I slot, RowEntries<V, I>& entries) {
    for (I diagonal = 0; has(slot, diagonal); ++diagonal) {
      const Offset k = position(slot, diagonal);
      entries.add(columns_[k], values_[k]);
    }
    return row_of_slot_[slot];
  });
}

template <Value V, Index I>
Footprint Jds<V, I>::footprint() const {
  return footprint_from<V>(rows(), diagonals(), nnz());
}

#define STRATA_INSTANTIATE(V, I) template class Jds<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
