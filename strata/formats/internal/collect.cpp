#include "strata/formats/internal/collect.hpp"

#include <algorithm>

#include "strata/base/array.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata {

namespace {

// visit(row, entries) for every row, from several threads.
template <Value V, Index I>
void for_each_row(I rows, FunctionRef<I(I, RowEntries<V, I>&)> gather,
                  FunctionRef<void(I, const RowEntries<V, I>&)> visit) {
  parallel_chunks(rows, [&](Offset begin, Offset end) {
    RowEntries<V, I> entries;
    for (Offset slot = begin; slot < end; ++slot) {
      entries.columns.clear();
      entries.values.clear();
      const I row = gather(static_cast<I>(slot), entries);
      visit(row, entries);
    }
  });
}

}  // namespace

template <Value V, Index I>
Csr<V, I> collect_rows(I rows, I cols, FunctionRef<I(I, RowEntries<V, I>&)> gather) {
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  offsets[rows] = 0;
  for_each_row<V, I>(rows, gather, [&](I row, const RowEntries<V, I>& entries) {
    offsets[row] = static_cast<Offset>(entries.columns.size());
  });
  const Offset total = exclusive_scan(offsets);
  Array<I> columns(total);
  Array<V> values(total);
  for_each_row<V, I>(rows, gather, [&](I row, const RowEntries<V, I>& entries) {
    std::ranges::copy(entries.columns, columns.begin() + offsets[row]);
    std::ranges::copy(entries.values, values.begin() + offsets[row]);
  });
  return Csr<V, I>(rows, cols, std::move(offsets), std::move(columns), std::move(values));
}

#define STRATA_INSTANTIATE(V, I) \
  template Csr<V, I> collect_rows(I, I, FunctionRef<I(I, RowEntries<V, I>&)>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
