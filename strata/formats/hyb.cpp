#include "strata/formats/hyb.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/hyb_rules.hpp"
#include "strata/formats/internal/collect.hpp"
#include "strata/formats/internal/row_lengths.hpp"
#include "strata/formats/internal/validation.hpp"

namespace strata {

namespace {

// One more column of ELLPACK costs a value and an index per row, and saves a value and two indices
// per row that still has entries there. Ever fewer rows have, so the best width is the first that
// does not pay for another.
template <Value V, Index I>
I width_of_fewest_bytes(const PatternView<I>& pattern) {
  const Offset cost = bytes_of<V>(pattern.rows) + bytes_of<I>(pattern.rows);
  I low = 0;
  I high = longest_row(pattern);
  while (low < high) {
    const I middle = low + (high - low) / 2;
    const Offset longer = overhang_beyond(pattern, middle).rows;
    if (bytes_of<V>(longer) + bytes_of<I>(2 * longer) > cost) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

template <Value V, Index I>
I chosen_width(const PatternView<I>& pattern, const HybOptions& options) {
  const auto given = [](Offset option) { return option == kAutomaticWidth ? 0 : 1; };
  if (given(options.width) + given(options.hybrid) + given(options.hybridlimit) +
          given(options.minstorage) >
      1) {
    throw InvalidArgument("HYB has a width or one rule for it, not several");
  }
  if (given(options.hybrid) != 0) return hybrid_width(pattern, options.hybrid);
  if (given(options.hybridlimit) != 0) return hybridlimit_width(pattern, options.hybridlimit);
  if (given(options.minstorage) != 0) return minstorage_width(pattern, Offset{sizeof(V)});
  if (options.width == kAutomaticWidth) return width_of_fewest_bytes<V>(pattern);
  if (options.width < 0) {
    throw InvalidArgument(fmt::format("HYB cannot have width {}", options.width));
  }
  return static_cast<I>(std::min<Offset>(options.width, longest_row(pattern)));
}

template <Value V, Index I>
Footprint footprint_from(I rows, I width, Offset rest, Offset entries) {
  const Offset padded = checked_multiply<Offset>(rows, width, "the size of an ELLPACK part");
  const Offset stored = checked_add(padded, rest, "the size of a HYB matrix");
  return {.value_bytes = bytes_of<V>(stored),
          .index_bytes = bytes_of<I>(stored) + bytes_of<I>(rest),
          .stored_entries = stored,
          .entries = entries};
}

// The entries of every row beyond its first `width`.
template <Value V, Index I>
Coo<V, I> trailing_entries(const Csr<V, I>& matrix, I width) {
  const PatternView<I> pattern = matrix.pattern();
  Array<Offset> offsets(static_cast<std::size_t>(matrix.rows()) + 1);
  offsets[matrix.rows()] = 0;
  parallel_for(matrix.rows(), [&](Offset row) {
    offsets[row] = std::max<Offset>(0, pattern.row_length(static_cast<I>(row)) - width);
  });
  const Offset total = exclusive_scan(offsets);
  Array<I> row_indices(total);
  Array<I> column_indices(total);
  Array<V> values(total);
  parallel_for(matrix.rows(), [&](Offset row) {
    const Offset source = pattern.row_offsets[row] + width - offsets[row];
    for (Offset k = offsets[row]; k < offsets[row + 1]; ++k) {
      row_indices[k] = static_cast<I>(row);
      column_indices[k] = pattern.columns[source + k];
      values[k] = matrix.values()[source + k];
    }
  });
  return Coo<V, I>(matrix.rows(), matrix.cols(), std::move(row_indices), std::move(column_indices),
                   std::move(values));
}

}  // namespace

template <Value V, Index I>
Hyb<V, I>::Hyb(Ell<V, I> ell, Coo<V, I> rest) : ell_(std::move(ell)), rest_(std::move(rest)) {
  if (ell_.rows() != rest_.rows() || ell_.cols() != rest_.cols()) {
    throw InvalidMatrix(fmt::format("an ELLPACK part of {} x {} has a rest of {} x {}", ell_.rows(),
                                    ell_.cols(), rest_.rows(), rest_.cols()));
  }
  parallel_for(rest_.nnz(), [&](Offset k) {
    const I row = rest_.row_indices()[k];
    const I previous_row = k > 0 ? rest_.row_indices()[k - 1] : 0;
    if (row < previous_row) {
      throw InvalidMatrix(
          fmt::format("row {}: the rest goes back to it after row {}", row, previous_row));
    }
    const I length = ell_.row_lengths()[row];
    I previous = -1;
    if (k > 0 && row == previous_row) {
      previous = rest_.column_indices()[k - 1];
    } else if (length > 0) {
      previous = ell_.columns()[ell_.position(row, length - 1)];
    }
    const I column = rest_.column_indices()[k];
    if (column <= previous) detail::throw_not_increasing(kRows, row, previous, column);
  });
}

template <Value V, Index I>
Footprint Hyb<V, I>::footprint_of(const Csr<V, I>& matrix, const HybOptions& options) {
  const I width = chosen_width<V>(matrix.pattern(), options);
  return footprint_from<V>(matrix.rows(), width, overhang_beyond(matrix.pattern(), width).entries,
                           matrix.nnz());
}

template <Value V, Index I>
Hyb<V, I> Hyb<V, I>::from_csr(const Csr<V, I>& matrix, const HybOptions& options) {
  const I width = chosen_width<V>(matrix.pattern(), options);
  require_fill(footprint_of(matrix, {.width = width}), options.max_fill, "HYB");
  Hyb hyb;
  hyb.ell_ = Ell<V, I>::from_leading_entries(matrix, width);
  hyb.rest_ = trailing_entries(matrix, width);
  return hyb;
}

template <Value V, Index I>
Csr<V, I> Hyb<V, I>::to_csr() const {
  return collect_rows<V, I>(rows(), cols(), [&](I row, RowEntries<V, I>& entries) {
    for (I entry = 0; entry < ell_.row_lengths()[row]; ++entry) {
      const Offset k = ell_.position(row, entry);
      entries.add(ell_.columns()[k], ell_.values()[k]);
    }
    const auto places = std::ranges::equal_range(rest_.row_indices(), row);
    for (auto place = places.begin(); place != places.end(); ++place) {
      const Offset k = place - rest_.row_indices().begin();
      entries.add(rest_.column_indices()[k], rest_.values()[k]);
    }
    return row;
  });
}

template <Value V, Index I>
Footprint Hyb<V, I>::footprint() const {
  return footprint_from<V>(rows(), width(), rest_.nnz(), nnz());
}

#define STRATA_INSTANTIATE(V, I) template class Hyb<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
