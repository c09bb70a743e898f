// How formats that pad, split or reorder rows become CSR again: count the entries of each row,
// scan, fill.
#pragma once

#include <utility>

#include "strata/base/array.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/csr.hpp"

namespace strata {

// Slot s holds row row_at(s), every row once. visit(s, take) calls take(column, value) for each
// entry of that row, columns increasing; it runs twice per slot, from several threads.
template <Value V, Index I, class RowAt, class Visit>
Csr<V, I> collect_rows(I rows, I cols, RowAt&& row_at, Visit&& visit) {
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  offsets[rows] = 0;
  parallel_for(rows, [&](Offset slot) {
    Offset length = 0;
    visit(static_cast<I>(slot), [&](I, V) { ++length; });
    offsets[row_at(static_cast<I>(slot))] = length;
  });
  const Offset total = exclusive_scan(offsets);
  Array<I> columns(total);
  Array<V> values(total);
  parallel_for(rows, [&](Offset slot) {
    Offset place = offsets[row_at(static_cast<I>(slot))];
    visit(static_cast<I>(slot), [&](I column, V value) {
      columns[place] = column;
      values[place++] = value;
    });
  });
  return Csr<V, I>(rows, cols, std::move(offsets), std::move(columns), std::move(values));
}

// The same where slot s holds row s.
template <Value V, Index I, class Visit>
Csr<V, I> collect_rows(I rows, I cols, Visit&& visit) {
  return collect_rows<V, I>(rows, cols, [](I row) { return row; }, std::forward<Visit>(visit));
}

}  // namespace strata
