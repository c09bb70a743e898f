#include "strata/formats/csr.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/internal/validation.hpp"

namespace strata {

namespace {

// Checks sizes and offsets, which everything that walks the rows relies on.
template <Value V, Index I>
void validate_layout(I rows, I cols, std::span<const Offset> row_offsets,
                     std::span<const I> columns, std::span<const V> values) {
  require_shape(rows, cols);
  require_size("column indices", columns.size(), static_cast<Offset>(values.size()));
  require_offsets(kRows, rows, row_offsets, columns.size());
}

// Sorts the entries of one row by column, keeping the order of equal columns, and adds those up.
// Returns the length left. `order` and `copy` are scratch, reused from row to row.
template <Value V, Index I>
Offset sort_and_merge_row(std::span<I> columns, std::span<V> values, std::vector<Offset>& order,
                          std::vector<std::pair<I, V>>& copy) {
  if (std::ranges::adjacent_find(columns, std::ranges::greater_equal{}) == columns.end()) {
    return static_cast<Offset>(columns.size());
  }
  order.resize(columns.size());
  std::iota(order.begin(), order.end(), Offset{0});
  std::ranges::sort(order, [&](Offset a, Offset b) {
    return columns[a] != columns[b] ? columns[a] < columns[b] : a < b;
  });
  copy.resize(columns.size());
  for (std::size_t i = 0; i < order.size(); ++i) copy[i] = {columns[order[i]], values[order[i]]};
  Offset last = -1;
  for (const auto& [column, value] : copy) {
    if (last >= 0 && columns[last] == column) {
      values[last] += value;
    } else {
      ++last;
      columns[last] = column;
      values[last] = value;
    }
  }
  return last + 1;
}

}  // namespace

template <Value V, Index I>
Csr<V, I>::Csr(I rows, I cols, Array<Offset> row_offsets, Array<I> columns, Array<V> values)
    : rows_(rows),
      cols_(cols),
      row_offsets_(std::move(row_offsets)),
      columns_(std::move(columns)),
      values_(std::move(values)) {
  validate();
}

template <Value V, Index I>
void Csr<V, I>::validate() const {
  validate_layout<V, I>(rows_, cols_, row_offsets_, columns_, values_);
  require_increasing<I>(kRows, cols_, row_offsets_, columns_);
}

template <Value V, Index I>
Csr<V, I> Csr<V, I>::from_unsorted(I rows, I cols, Array<Offset> row_offsets, Array<I> columns,
                                   Array<V> values) {
  validate_layout<V, I>(rows, cols, row_offsets, columns, values);
  Array<Offset> lengths(static_cast<std::size_t>(rows) + 1);
  lengths[rows] = 0;
  parallel_dynamic(rows, 1024, [&](Offset begin, Offset end) {
    std::vector<Offset> order;
    std::vector<std::pair<I, V>> copy;
    for (Offset row = begin; row < end; ++row) {
      const Offset first = row_offsets[row];
      const Offset length = row_offsets[row + 1] - first;
      lengths[row] = sort_and_merge_row(std::span(columns).subspan(first, length),
                                        std::span(values).subspan(first, length), order, copy);
    }
  });
  const Offset kept = exclusive_scan(lengths);
  if (kept != static_cast<Offset>(values.size())) {
    // Rows only move towards the front, so moving them one after the other overwrites nothing
    // that is still needed.
    for (I row = 0; row < rows; ++row) {
      const Offset from = row_offsets[row];
      const Offset length = lengths[row + 1] - lengths[row];
      std::copy_n(columns.begin() + from, length, columns.begin() + lengths[row]);
      std::copy_n(values.begin() + from, length, values.begin() + lengths[row]);
    }
    columns.resize(kept);
    values.resize(kept);
  }
  return Csr(rows, cols, std::move(lengths), std::move(columns), std::move(values));
}

template <Value V, Index I>
Footprint Csr<V, I>::footprint() const {
  return {.value_bytes = nnz() * Offset{sizeof(V)},
          .index_bytes =
              nnz() * Offset{sizeof(I)} + static_cast<Offset>(row_offsets_.size() * sizeof(Offset)),
          .stored_entries = nnz(),
          .entries = nnz()};
}

template <Value V, Index I>
Csr<V, I> transposed(const Csr<V, I>& matrix) {
  const auto offsets = matrix.row_offsets();
  const auto columns = matrix.columns();
  const auto values = matrix.values();
  Array<Offset> starts(static_cast<std::size_t>(matrix.cols()) + 1, 0);
  parallel_for(matrix.nnz(), [&](Offset k) {
    std::atomic_ref(starts[columns[k]]).fetch_add(1, std::memory_order_relaxed);
  });
  exclusive_scan(starts);

  // Each thread owns a range of columns with about the same number of entries and walks all rows:
  // entries arrive in row order without locks, whatever the number of threads.
  Array<Offset> next(starts);
  Array<I> rows_of(columns.size());
  Array<V> moved(values.size());
  run_on_threads(matrix.nnz() < kSerialBelow ? 1 : thread_count(), [&](int thread, int team) {
    const auto [begin, end] = balanced_chunk_of(starts, thread, team);
    for (I row = 0; row < matrix.rows(); ++row) {
      for (Offset k = offsets[row]; k < offsets[row + 1]; ++k) {
        const I column = columns[k];
        if (column < begin || column >= end) continue;
        const Offset place = next[column]++;
        rows_of[place] = row;
        moved[place] = values[k];
      }
    }
  });
  return Csr<V, I>(matrix.cols(), matrix.rows(), std::move(starts), std::move(rows_of),
                   std::move(moved));
}

namespace {

template <Value To, Value From>
To convert_value(From value) {
  if constexpr (is_complex<From> && !is_complex<To>) {
    if (value.imag() != 0) {
      throw InvalidMatrix("a matrix with imaginary parts cannot become a real one");
    }
    return static_cast<To>(value.real());
  } else if constexpr (is_complex<From>) {
    using Real = typename To::value_type;
    return To(static_cast<Real>(value.real()), static_cast<Real>(value.imag()));
  } else if constexpr (is_complex<To>) {
    return To(static_cast<typename To::value_type>(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace

template <Value ToV, Index ToI, Value V, Index I>
Csr<ToV, ToI> converted(const Csr<V, I>& matrix) {
  const ToI rows = narrow<ToI>(matrix.rows(), "the number of rows");
  const ToI cols = narrow<ToI>(matrix.cols(), "the number of columns");
  Array<Offset> offsets(matrix.row_offsets().begin(), matrix.row_offsets().end());
  Array<ToI> columns(matrix.nnz());
  Array<ToV> values(matrix.nnz());
  parallel_for(matrix.nnz(), [&](Offset k) {
    columns[k] = static_cast<ToI>(matrix.columns()[k]);
    values[k] = convert_value<ToV>(matrix.values()[k]);
  });
  return Csr<ToV, ToI>(rows, cols, std::move(offsets), std::move(columns), std::move(values));
}

#define STRATA_CONVERT_TO(V, I, ToV)                                \
  template Csr<ToV, std::int32_t> converted<ToV>(const Csr<V, I>&); \
  template Csr<ToV, std::int64_t> converted<ToV>(const Csr<V, I>&)
#define STRATA_INSTANTIATE(V, I)                   \
  template class Csr<V, I>;                        \
  template Csr<V, I> transposed(const Csr<V, I>&); \
  STRATA_CONVERT_TO(V, I, float);                  \
  STRATA_CONVERT_TO(V, I, double);                 \
  STRATA_CONVERT_TO(V, I, std::complex<float>);    \
  STRATA_CONVERT_TO(V, I, std::complex<double>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
