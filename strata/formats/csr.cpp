#include "strata/formats/csr.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <type_traits>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/internal/validation.hpp"

namespace strata {

namespace {

// Checks sizes and offsets, which everything that walks the rows relies on.
template <Index I>
void validate_layout(I rows, I cols, std::span<const Offset> row_offsets,
                     std::span<const I> columns, std::size_t values) {
  require_shape(rows, cols);
  require_size("column indices", columns.size(), static_cast<Offset>(values));
  require_offsets(kRows, rows, row_offsets, columns.size());
}

// Puts the positions of the columns into the order of the columns; equal ones keep theirs. False,
// and nothing done, if the columns increase strictly already.
template <Index I>
bool sort_positions(std::span<const I> columns, std::vector<Offset>& order) {
  if (std::ranges::adjacent_find(columns, std::ranges::greater_equal{}) == columns.end()) {
    return false;
  }
  order.resize(columns.size());
  std::iota(order.begin(), order.end(), Offset{0});
  std::sort(order.begin(), order.end(), [&](Offset a, Offset b) {
    return columns[a] != columns[b] ? columns[a] < columns[b] : a < b;
  });
  return true;
}

// Sorts the entries of one row by column, keeping the order of equal columns, and adds those up.
// Returns the length left. `order` and `copy` are scratch, reused from row to row.
template <Value V, Index I>
Offset sort_and_merge_row(std::span<I> columns, std::span<V> values, std::vector<Offset>& order,
                          std::vector<std::pair<I, V>>& copy) {
  if (!sort_positions<I>(columns, order)) return static_cast<Offset>(columns.size());
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

// Numbers of base 1 as `To` of base 0. The smallest number wraps around to the largest, which is
// no offset or column of any matrix: it is refused as all others below the base are.
template <class To, class From>
Array<To> from_base_one(std::span<const From> numbers) {
  Array<To> shifted(numbers.size());
  parallel_for(static_cast<Offset>(numbers.size()), [&](Offset i) {
    using Bits = std::make_unsigned_t<To>;
    shifted[i] = static_cast<To>(static_cast<Bits>(To{numbers[i]}) - Bits{1});
  });
  return shifted;
}

BorrowableArray<Offset> usable_offsets(std::span<const Offset> offsets, IndexBase base) {
  if (base == IndexBase::one) return from_base_one<Offset>(offsets);
  return BorrowableArray<Offset>::borrow(offsets);
}
BorrowableArray<Offset> usable_offsets(std::span<const std::int32_t> offsets, IndexBase base) {
  if (base == IndexBase::one) return from_base_one<Offset>(offsets);
  return Array<Offset>(offsets.begin(), offsets.end());
}

template <Index I>
BorrowableArray<I> usable_columns(std::span<const I> columns, IndexBase base) {
  if (base == IndexBase::one) return from_base_one<I>(columns);
  return BorrowableArray<I>::borrow(columns);
}

}  // namespace

template <Value V, Index I>
Csr<V, I>::Csr(I rows, I cols, Arrays arrays)
    : rows_(rows), cols_(cols), arrays_(std::move(arrays)) {
  validate_layout<I>(rows_, cols_, row_offsets(), columns(), arrays_.values.size());
  require_increasing<I>(kRows, cols_, row_offsets(), columns());
}

template <Value V, Index I>
Csr<V, I>::Csr(I rows, I cols, Array<Offset> row_offsets, Array<I> columns, Array<V> values)
    : Csr(rows, cols, Arrays{std::move(row_offsets), std::move(columns), std::move(values)}) {}

template <Value V, Index I>
Csr<V, I> Csr<V, I>::borrow(I rows, I cols, std::span<const Offset> row_offsets,
                            std::span<const I> columns, std::span<const V> values, IndexBase base) {
  return Csr(rows, cols,
             Arrays{usable_offsets(row_offsets, base), usable_columns(columns, base),
                    BorrowableArray<V>::borrow(values)});
}

template <Value V, Index I>
Csr<V, I> Csr<V, I>::borrow(I rows, I cols, std::span<const std::int32_t> row_offsets,
                            std::span<const I> columns, std::span<const V> values, IndexBase base) {
  return Csr(rows, cols,
             Arrays{usable_offsets(row_offsets, base), usable_columns(columns, base),
                    BorrowableArray<V>::borrow(values)});
}

template <Value V, Index I>
std::span<V> Csr<V, I>::mutable_values() {
  if (borrows()) {
    throw InvalidArgument(
        "the values of a borrowed matrix belong to the caller and cannot be changed through it; a "
        "copy of the matrix has values of its own");
  }
  return arrays_.values.owned_elements();
}

template <Value V, Index I>
Csr<V, I> Csr<V, I>::from_unsorted(I rows, I cols, Array<Offset> row_offsets, Array<I> columns,
                                   Array<V> values) {
  validate_layout<I>(rows, cols, row_offsets, columns, values.size());
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
          .index_bytes = nnz() * Offset{sizeof(I)} +
                         static_cast<Offset>(row_offsets().size() * sizeof(Offset)),
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

#define STRATA_INSTANTIATE(V, I) \
  template class Csr<V, I>;      \
  template Csr<V, I> transposed(const Csr<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
