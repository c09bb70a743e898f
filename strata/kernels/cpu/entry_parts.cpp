#include "strata/kernels/cpu/entry_parts.hpp"

#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"

namespace strata::cpu {

namespace {

// Enough parts for the threads of any machine, and none so small that its pieces count, nor so
// large that threads wait for the last one.
constexpr Offset kUsualParts = 256;
constexpr Offset kLeastWork = 256;
constexpr Offset kMostWork = 16384;

// row_end(row) is how many entries the rows up to this one have, itself included.
template <class RowEnd>
PartCut cut_at(Offset steps, Offset rows, const RowEnd& row_end) {
  // The first row that is not complete after so many steps of the path.
  Offset row = 0;
  for (Offset last = rows; row < last;) {
    const Offset middle = row + (last - row) / 2;
    if (row_end(middle) + middle + 1 <= steps) {
      row = middle + 1;
    } else {
      last = middle;
    }
  }
  const Offset entry = steps - row;
  return {row, entry, entry > (row == 0 ? 0 : row_end(row - 1))};
}

template <class RowEnd>
EntryParts cut(Offset rows, Offset entries, const RowEnd& row_end) {
  const Offset work = checked_add(rows, entries, "the rows and entries of a matrix");
  const Offset each = std::clamp(work / kUsualParts, kLeastWork, kMostWork);
  const Offset parts = std::max<Offset>(1, ceil_div(work, each));
  EntryParts result;
  result.cuts.reserve(static_cast<std::size_t>(parts) + 1);
  for (Offset part = 0; part <= parts; ++part) {
    result.cuts.push_back(cut_at(std::min(work, part * each), rows, row_end));
  }
  return result;
}

}  // namespace

template <Value V, Index I>
EntryParts entry_parts_of(const Csr<V, I>& matrix) {
  return cut(matrix.rows(), matrix.nnz(),
             [offsets = matrix.row_offsets()](Offset row) { return offsets[row + 1]; });
}

template <Value V, Index I>
EntryParts entry_parts_of(const Coo<V, I>& matrix) {
  const auto row_indices = matrix.row_indices();
  if (!std::ranges::is_sorted(row_indices)) {
    throw InvalidArgument("products in COO need its entries in row order");
  }
  return cut(matrix.rows(), matrix.nnz(), [&](Offset row) -> Offset {
    return std::ranges::upper_bound(row_indices, static_cast<I>(row)) - row_indices.begin();
  });
}

#define STRATA_INSTANTIATE(V, I)                        \
  template EntryParts entry_parts_of(const Csr<V, I>&); \
  template EntryParts entry_parts_of(const Coo<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cpu
