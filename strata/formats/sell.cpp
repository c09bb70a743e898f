#include "strata/formats/sell.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/slices.hpp"

namespace strata {

namespace {

// The options in the matrix' index type. A window larger than the matrix sorts the whole of it.
template <Index I>
struct Shape {
  I slice_height;
  I sort_window;

  Shape(const SellOptions& options, I rows) {
    if (options.slice_height < 1 || options.sort_window < 1) {
      throw InvalidArgument(fmt::format("SELL-{}-{}: slice height and sort window start at 1",
                                        options.slice_height, options.sort_window));
    }
    slice_height = narrow<I>(options.slice_height, "the slice height");
    sort_window = static_cast<I>(std::min<Offset>(options.sort_window, std::max<I>(rows, 1)));
  }
};

template <Value V, Index I>
Footprint footprint_from(I slices, bool sorted, I rows, Offset stored, Offset entries) {
  return {.value_bytes = stored * Offset{sizeof(V)},
          .index_bytes = stored * Offset{sizeof(I)} +
                         (static_cast<Offset>(slices) + 1) * Offset{sizeof(Offset)} +
                         (sorted ? rows * Offset{sizeof(I)} : 0),
          .stored_entries = stored,
          .entries = entries};
}

// Where each slice starts, from the widths of all; the last element is the number of values stored.
template <Index I>
Array<Offset> offsets_of(std::span<const I> widths, I slice_height) {
  Array<Offset> offsets(widths.size() + 1);
  offsets[widths.size()] = 0;
  parallel_for(static_cast<Offset>(widths.size()), [&](Offset slice) {
    offsets[slice] = checked_multiply<Offset>(widths[slice], slice_height, "the size of a slice");
  });
  exclusive_scan(offsets);
  return offsets;
}

}  // namespace

template <Value V, Index I>
Footprint Sell<V, I>::footprint_of(const Csr<V, I>& matrix, const SellOptions& options) {
  const Shape<I> shape(options, matrix.rows());
  const Array<I> row_of_slot = sort_rows_by_length(matrix.pattern(), shape.sort_window);
  const Array<I> widths =
      slice_widths<I>(matrix.pattern(), shape.slice_height, std::span(row_of_slot));
  const Array<Offset> offsets = offsets_of<I>(widths, shape.slice_height);
  return footprint_from<V>(static_cast<I>(widths.size()), shape.sort_window > 1, matrix.rows(),
                           offsets.back(), matrix.nnz());
}

template <Value V, Index I>
Sell<V, I> Sell<V, I>::from_csr(const Csr<V, I>& matrix, const SellOptions& options) {
  const Shape<I> shape(options, matrix.rows());
  Sell sell;
  sell.rows_ = matrix.rows();
  sell.cols_ = matrix.cols();
  sell.nnz_ = matrix.nnz();
  sell.slice_height_ = shape.slice_height;
  sell.sort_window_ = shape.sort_window;
  sell.row_of_slot_ = sort_rows_by_length(matrix.pattern(), shape.sort_window);
  const Array<I> widths =
      slice_widths<I>(matrix.pattern(), shape.slice_height, std::span(sell.row_of_slot_));
  sell.slice_offsets_ = offsets_of<I>(widths, shape.slice_height);
  require_fill(sell.footprint(), options.max_fill, "SELL-C-sigma");

  const I height = shape.slice_height;
  const I slices = sell.slices();
  const Offset slots = checked_multiply<Offset>(slices, height, "the number of slots");
  sell.row_lengths_.resize(slots);
  sell.columns_.resize(sell.slice_offsets_.back());
  sell.values_.resize(sell.slice_offsets_.back());
  const PatternView<I> pattern = matrix.pattern();
  parallel_dynamic(slices, 256, [&](Offset first, Offset last) {
    for (Offset slice = first; slice < last; ++slice) {
      I padding_column = 0;
      for (Offset slot = slice * height; slot < (slice + 1) * height; ++slot) {
        const bool real = slot < pattern.rows;
        const I row = real ? sell.row_at(static_cast<I>(slot)) : 0;
        const I length = real ? pattern.row_length(row) : 0;
        sell.row_lengths_[slot] = length;
        const Offset source = real ? pattern.row_offsets[row] : 0;
        if (length > 0) padding_column = pattern.columns[source + length - 1];
        Offset place = sell.slice_offsets_[slice] + slot % height;
        for (I entry = 0; entry < widths[slice]; ++entry, place += height) {
          sell.columns_[place] = entry < length ? pattern.columns[source + entry] : padding_column;
          sell.values_[place] = entry < length ? matrix.values()[source + entry] : V{};
        }
      }
    }
  });
  return sell;
}

template <Value V, Index I>
Csr<V, I> Sell<V, I>::to_csr() const {
  Array<Offset> offsets(static_cast<std::size_t>(rows_) + 1);
  offsets[rows_] = 0;
  parallel_for(rows_,
               [&](Offset slot) { offsets[row_at(static_cast<I>(slot))] = row_lengths_[slot]; });
  const Offset total = exclusive_scan(offsets);
  Array<I> columns(total);
  Array<V> values(total);
  parallel_for(rows_, [&](Offset slot) {
    const Offset target = offsets[row_at(static_cast<I>(slot))];
    for (I entry = 0; entry < row_lengths_[slot]; ++entry) {
      columns[target + entry] = columns_[position(static_cast<I>(slot), entry)];
      values[target + entry] = values_[position(static_cast<I>(slot), entry)];
    }
  });
  return Csr<V, I>(rows_, cols_, std::move(offsets), std::move(columns), std::move(values));
}

template <Value V, Index I>
Footprint Sell<V, I>::footprint() const {
  return footprint_from<V>(slices(), sorted(), rows_, slice_offsets_.back(), nnz_);
}

#define STRATA_INSTANTIATE(V, I) template class Sell<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
