// How formats that pad, split or reorder rows become CSR again: count the entries of each row,
// scan, fill.
#pragma once

#include <vector>

#include "strata/base/function_ref.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"

namespace strata {

// The entries of one row, columns increasing.
template <Value V, Index I>
struct RowEntries {
  std::vector<I> columns;
  std::vector<V> values;

  void add(I column, V value) {
    columns.push_back(column);
    values.push_back(value);
  }
};

// gather(slot, entries) adds the entries of a slot's row and returns that row. It is called twice
// per slot, from several threads; every row has one of the `rows` slots. Not a template of what it
// calls, so that it is compiled once per type and not once per format.
template <Value V, Index I>
Csr<V, I> collect_rows(I rows, I cols, FunctionRef<I(I slot, RowEntries<V, I>& entries)> gather);

}  // namespace strata
