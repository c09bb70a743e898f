#include "strata/formats/coo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata {

template <Value V, Index I>
Coo<V, I>::Coo(I rows, I cols, Array<I> row_indices, Array<I> column_indices, Array<V> values)
    : rows_(rows),
      cols_(cols),
      row_indices_(std::move(row_indices)),
      column_indices_(std::move(column_indices)),
      values_(std::move(values)) {
  if (rows < 0 || cols < 0) {
    throw InvalidMatrix(fmt::format("a matrix cannot have {} rows and {} columns", rows, cols));
  }
  if (row_indices_.size() != values_.size() || column_indices_.size() != values_.size()) {
    throw InvalidMatrix(fmt::format("there are {} row and {} column indices for {} values",
                                    row_indices_.size(), column_indices_.size(), values_.size()));
  }
  parallel_for(nnz(), [&](Offset k) {
    if (row_indices_[k] < 0 || row_indices_[k] >= rows || column_indices_[k] < 0 ||
        column_indices_[k] >= cols) {
      throw InvalidMatrix(fmt::format("entry {}: ({}, {}) is outside a {} x {} matrix", k,
                                      row_indices_[k], column_indices_[k], rows, cols));
    }
  });
}

template <Value V, Index I>
Coo<V, I> Coo<V, I>::from_csr(const Csr<V, I>& matrix) {
  Array<I> row_indices(matrix.nnz());
  parallel_for(matrix.rows(), [&](Offset row) {
    std::fill(row_indices.begin() + matrix.row_offsets()[row],
              row_indices.begin() + matrix.row_offsets()[row + 1], static_cast<I>(row));
  });
  return Coo(matrix.rows(), matrix.cols(), std::move(row_indices),
             Array<I>(matrix.columns().begin(), matrix.columns().end()),
             Array<V>(matrix.values().begin(), matrix.values().end()));
}

template <Value V, Index I>
Csr<V, I> Coo<V, I>::to_csr(Symmetry stored) const {
  const bool mirror = stored != Symmetry::general;
  if (mirror && rows_ != cols_) {
    throw InvalidMatrix(
        fmt::format("a {} x {} matrix cannot be {}", rows_, cols_, name_of(stored)));
  }
  Array<Offset> offsets(static_cast<std::size_t>(rows_) + 1, 0);
  const auto count = [&](I row) {
    std::atomic_ref(offsets[row]).fetch_add(1, std::memory_order_relaxed);
  };
  parallel_for(nnz(), [&](Offset k) {
    count(row_indices_[k]);
    if (mirror && row_indices_[k] != column_indices_[k]) count(column_indices_[k]);
  });
  const Offset total = exclusive_scan(offsets);

  // Each thread owns a range of rows with about the same number of entries and walks the whole
  // list: entries arrive in list order without locks, whatever the number of threads.
  Array<Offset> next(offsets);
  Array<I> columns(total);
  Array<V> values(total);
  run_on_threads(nnz() < kSerialBelow ? 1 : thread_count(), [&](int thread, int team) {
    const auto first_row = [&](int part) {
      const Offset target = chunk_of(total, part, team).begin;
      return static_cast<I>(std::ranges::lower_bound(offsets, target) - offsets.begin());
    };
    const RowRange<I> own{thread == 0 ? 0 : first_row(thread),
                          thread + 1 == team ? rows_ : first_row(thread + 1)};
    const auto place = [&](I row, I column, V value) {
      if (!own.contains(row)) return;
      const Offset position = next[row]++;
      columns[position] = column;
      values[position] = value;
    };
    for (Offset k = 0; k < nnz(); ++k) {
      const I row = row_indices_[k];
      const I column = column_indices_[k];
      place(row, column, values_[k]);
      if (mirror && row != column) place(column, row, mirrored(values_[k], stored));
    }
  });
  return Csr<V, I>::from_unsorted(rows_, cols_, std::move(offsets), std::move(columns),
                                  std::move(values));
}

template <Value V, Index I>
Footprint Coo<V, I>::footprint() const {
  return {.value_bytes = nnz() * Offset{sizeof(V)},
          .index_bytes = nnz() * Offset{2 * sizeof(I)},
          .stored_entries = nnz(),
          .entries = nnz()};
}

template <Value V, Index I>
Footprint Coo<V, I>::footprint_of(const Csr<V, I>& matrix) {
  return {.value_bytes = matrix.nnz() * Offset{sizeof(V)},
          .index_bytes = matrix.nnz() * Offset{2 * sizeof(I)},
          .stored_entries = matrix.nnz(),
          .entries = matrix.nnz()};
}

#define STRATA_INSTANTIATE(V, I) template class Coo<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
