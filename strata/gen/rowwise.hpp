// How nearly every generator makes its matrix: row by row, in parallel, straight into the arrays of
// a CSR. A generator is one function object, row(i, emit), that calls emit(column, value) for the
// entries of row i in increasing order of columns. It runs twice, to count and to fill, and each
// thread works on a copy of its own, so it may keep scratch memory. Rows are independent: any
// selection of them can be made, in the time and memory of these rows.
#pragma once

#include <span>
#include <utility>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/gen/row_selection.hpp"

namespace strata {

// Throws OverflowError, before anything is allocated, unless an Offset counts the bytes of `pieces`
// times `entries_of_each` entries.
template <Value V, Index I>
void require_countable(Offset pieces, Offset entries_of_each) {
  const Offset entries = checked_multiply(pieces, entries_of_each, "the number of entries");
  checked_multiply(entries, Offset{sizeof(V) + sizeof(I)}, "the number of bytes");
}

// The order of a square matrix with about `entries_per_row` entries per row, known to fit I.
template <Value V, Index I>
I checked_order(Offset rows, Offset entries_per_row) {
  require_countable<V, I>(rows, entries_per_row);
  return narrow<I>(rows, "the number of rows");
}

template <Value V>
V to_value(double number) {
  if constexpr (is_complex<V>) {
    return V(static_cast<typename V::value_type>(number));
  } else {
    return static_cast<V>(number);
  }
}
template <Value V>
  requires is_complex<V>
V to_value(V number) {
  return number;
}

// work(begin, end) on contiguous rows, about as many entries on each thread.
template <class Work>
void for_balanced_rows(std::span<const Offset> row_offsets, const Work& work) {
  const int threads = row_offsets.back() < kSerialBelow ? 1 : thread_count();
  run_on_threads(threads, [&](int thread, int team) {
    const auto [begin, end] = balanced_chunk_of(row_offsets, thread, team);
    work(begin, end);
  });
}

// The selected rows of a matrix of `cols` columns. `length(i)` is the number of entries that
// row(i, emit) emits.
template <Value V, Index I, class Length, class Row>
Csr<V, I> build_rows(const RowSelection<I>& selection, I cols, const Length& length,
                     const Row& row) {
  const I rows = narrow<I>(selection.size(), "the number of rows");
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  offsets[rows] = 0;
  parallel_chunks(rows, [&](Offset begin, Offset end) {
    Length own_length = length;
    for (Offset i = begin; i < end; ++i) offsets[i] = own_length(selection[i]);
  });
  const Offset entries = exclusive_scan(offsets);

  Array<I> columns(entries);
  Array<V> values(entries);
  for_balanced_rows(offsets, [&](Offset begin, Offset end) {
    Row own_row = row;
    for (Offset i = begin; i < end; ++i) {
      Offset place = offsets[i];
      own_row(selection[i], [&](Offset column, auto value) {
        columns[place] = static_cast<I>(column);
        values[place] = to_value<V>(value);
        ++place;
      });
    }
  });
  return Csr<V, I>(rows, cols, std::move(offsets), std::move(columns), std::move(values));
}

template <Value V, Index I, class Row>
Csr<V, I> build_rows(const RowSelection<I>& selection, I cols, const Row& row) {
  const auto length = [row = row](Offset i) mutable {
    Offset count = 0;
    row(i, [&](Offset, auto) { ++count; });
    return count;
  };
  return build_rows<V, I>(selection, cols, length, row);
}

// All rows.
template <Value V, Index I, class... Functions>
Csr<V, I> build_rows(I rows, I cols, const Functions&... functions) {
  return build_rows<V, I>(RowSelection<I>(0, rows), cols, functions...);
}

// A ⊗ M, where `row` emits the rows of A and M is the dof × dof matrix 1 / (1 + |a − b|): dense
// blocks, the unknowns of a point one after another. M is positive definite, being a Toeplitz
// matrix of a convex sequence that decreases to 0 (Pólya's criterion), so A ⊗ M is whenever A is.
template <class Row>
auto with_blocks(const Row& row, Offset dof) {
  return [row = row, dof](Offset i, auto&& emit) mutable {
    const Offset own = i % dof;
    row(i / dof, [&](Offset column, double value) {
      for (Offset other = 0; other < dof; ++other) {
        const Offset distance = own < other ? other - own : own - other;
        emit(column * dof + other, value / static_cast<double>(1 + distance));
      }
    });
  };
}

}  // namespace strata
