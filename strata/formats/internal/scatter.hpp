// From entries in any order to rows: the step that every list of coordinates goes through on its
// way to CSR.
#pragma once

#include <algorithm>
#include <atomic>
#include <ranges>
#include <span>

#include "strata/base/array.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/symmetry.hpp"

namespace strata::detail {

// What Csr::from_unsorted takes.
template <Value V, Index I>
struct UnsortedRows {
  Array<Offset> row_offsets;
  Array<I> columns;
  Array<V> values;
};

// `lists` is a range of lists, each with `rows`, `columns` and `values` of one length, which count
// as one long list. Entries keep its order within a row, so that adding up duplicates gives the
// same sum for every number of threads. With a symmetry other than general, every entry off the
// diagonal also stands for its mirror image.
template <Value V, Index I, class Lists>
UnsortedRows<V, I> scatter_to_rows(I rows, const Lists& lists, Symmetry stored) {
  const bool mirror = stored != Symmetry::general;
  Offset entries = 0;
  for (const auto& list : lists) entries += static_cast<Offset>(list.values.size());
  const int threads = entries < kSerialBelow ? 1 : thread_count();

  UnsortedRows<V, I> result;
  Array<Offset>& offsets = result.row_offsets;
  offsets.assign(static_cast<std::size_t>(rows) + 1, 0);
  const auto count = [&](I row) {
    std::atomic_ref(offsets[row]).fetch_add(1, std::memory_order_relaxed);
  };
  run_on_threads(threads, [&](int thread, int team) {
    for (const auto& list : lists) {
      const Chunk own = chunk_of(static_cast<Offset>(list.values.size()), thread, team);
      for (Offset k = own.begin; k < own.end; ++k) {
        count(list.rows[k]);
        if (mirror && list.rows[k] != list.columns[k]) count(list.columns[k]);
      }
    }
  });
  const Offset total = exclusive_scan(offsets);

  // Each thread owns a range of rows with about the same number of entries and goes through the
  // whole list: entries arrive in list order without locks, whatever the number of threads.
  Array<Offset> next(offsets);
  result.columns.resize(total);
  result.values.resize(total);
  run_on_threads(threads, [&](int thread, int team) {
    const auto [begin, end] = balanced_chunk_of(offsets, thread, team);
    const RowRange<I> own{static_cast<I>(begin), static_cast<I>(end)};
    const auto place = [&](I row, I column, V value) {
      if (!own.contains(row)) return;
      const Offset position = next[row]++;
      result.columns[position] = column;
      result.values[position] = value;
    };
    for (const auto& list : lists) {
      for (std::size_t k = 0; k < list.values.size(); ++k) {
        const I row = list.rows[k];
        const I column = list.columns[k];
        place(row, column, list.values[k]);
        if (mirror && row != column) place(column, row, mirrored(list.values[k], stored));
      }
    }
  });
  return result;
}

}  // namespace strata::detail
