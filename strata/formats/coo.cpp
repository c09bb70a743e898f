#include "strata/formats/coo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/internal/scatter.hpp"

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
  if (stored != Symmetry::general && rows_ != cols_) {
    throw InvalidMatrix(
        fmt::format("a {} x {} matrix cannot be {}", rows_, cols_, name_of(stored)));
  }
  struct List {
    std::span<const I> rows;
    std::span<const I> columns;
    std::span<const V> values;
  };
  const std::array lists{List{row_indices_, column_indices_, values_}};
  auto unsorted = detail::scatter_to_rows<V, I>(rows_, lists, stored);
  return Csr<V, I>::from_unsorted(rows_, cols_, std::move(unsorted.row_offsets),
                                  std::move(unsorted.columns), std::move(unsorted.values));
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
