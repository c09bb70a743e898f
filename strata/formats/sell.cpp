#include "strata/formats/sell.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/internal/collect.hpp"
#include "strata/formats/internal/padded.hpp"
#include "strata/formats/internal/row_lengths.hpp"
#include "strata/formats/internal/slices.hpp"

namespace strata {

namespace {

template <Value V, Index I>
Footprint footprint_from(Offset slices, bool sorted, I rows, Offset stored, Offset entries) {
  return {.value_bytes = bytes_of<V>(stored),
          .index_bytes =
              bytes_of<I>(stored) + bytes_of<Offset>(slices + 1) + (sorted ? bytes_of<I>(rows) : 0),
          .stored_entries = stored,
          .entries = entries};
}

// Where each slice starts; the last element is the number of values stored.
template <Index I>
Array<Offset> slice_offsets_of(const SlottedPattern<I>& slots, I slice_height) {
  const Offset slices = ceil_div(slots.pattern.rows, slice_height);
  Array<Offset> offsets(slices + 1);
  offsets[slices] = 0;
  parallel_for(slices, [&](Offset slice) {
    offsets[slice] = checked_multiply<Offset>(slots.widest(slice * slice_height, slice_height),
                                              slice_height, "the size of a slice");
  });
  exclusive_scan(offsets);
  return offsets;
}

// Of the first row that has any, of the slots from `slot` on.
template <Index I>
I first_column(const SlottedPattern<I>& slots, Offset slot) {
  while (slots.columns(slot).empty()) ++slot;
  return slots.columns(slot).front();
}

template <Value V, Index I>
void fill_slice(const Csr<V, I>& matrix, const SlottedPattern<I>& slots, Offset slice,
                SellArrays<V, I>& arrays) {
  const I height = arrays.slice_height;
  const Offset begin = arrays.slice_offsets[slice];
  PaddedRow place{.stride = height, .width = (arrays.slice_offsets[slice + 1] - begin) / height};
  if (place.width == 0) return;
  I padding_column = first_column(slots, slice * height);
  for (Offset lane = 0; lane < height; ++lane) {
    const Offset slot = slice * height + lane;
    const auto columns = slots.columns(slot);
    if (!columns.empty()) padding_column = columns.back();
    place.begin = begin + lane;
    place.length = static_cast<Offset>(columns.size());
    store_padded_row<V, I>(place, columns, matrix.values().subspan(slots.source(slot)),
                           padding_column, arrays.columns, arrays.values);
  }
}

// Every window of slots holds exactly the rows of that window.
template <Index I>
void require_rows_in_windows(I rows, I window, std::span<const I> row_of_slot) {
  require_size("rows by slot", row_of_slot.size(), window > 1 ? rows : 0);
  Array<unsigned char> seen(row_of_slot.size(), 0);
  for (std::size_t slot = 0; slot < row_of_slot.size(); ++slot) {
    const I row = row_of_slot[slot];
    if (row < 0 || row >= rows || row / window != static_cast<I>(slot) / window) {
      throw InvalidMatrix(
          fmt::format("slot {}: row {} is outside its window of {} rows", slot, row, window));
    }
    if (seen[row]++ != 0) throw InvalidMatrix(fmt::format("slot {}: row {} again", slot, row));
  }
}

}  // namespace

template <Value V, Index I>
Sell<V, I>::Sell(I rows, I cols, SellArrays<V, I> arrays)
    : rows_(rows), cols_(cols), arrays_(std::move(arrays)) {
  validate();
  nnz_ = sum_of_lengths<I>(arrays_.row_lengths);
}

template <Value V, Index I>
void Sell<V, I>::validate() const {
  require_shape(rows_, cols_);
  const Offset height = slice_height();
  const Offset window = sort_window();
  if (height < 1 || window < 1 || window > std::max<Offset>(rows_, 1)) {
    throw InvalidMatrix(fmt::format("SELL-{}-{} cannot hold {} rows", height, window, rows_));
  }
  const Offset slices = ceil_div<Offset>(rows_, height);
  require_size("columns", columns().size(), static_cast<Offset>(values().size()));
  require_offsets({"slice", "column"}, slices, slice_offsets(), columns().size());
  require_size("row lengths", row_lengths().size(), rows_);
  require_rows_in_windows<I>(rows_, sort_window(), row_of_slot());
  parallel_for(slices, [&](Offset slice) { validate_slice(slice); });
}

template <Value V, Index I>
void Sell<V, I>::validate_slice(Offset slice) const {
  const Offset height = slice_height();
  const Offset size = slice_offsets()[slice + 1] - slice_offsets()[slice];
  if (size % height != 0) {
    throw InvalidMatrix(fmt::format("slice {}: {} values for {} rows", slice, size, height));
  }
  PaddedRow place{.stride = height, .width = size / height};
  // Slots after the last row hold nothing at all where the width is 0.
  const Offset first = slice * height;
  const Offset lanes = size > 0 ? height : std::min<Offset>(height, rows_ - first);
  for (Offset lane = 0; lane < lanes; ++lane) {
    const Offset slot = first + lane;
    place.begin = slice_offsets()[slice] + lane;
    place.length = slot < rows_ ? row_lengths()[slot] : 0;
    require_padded_row<V, I>(slot < rows_ ? row_at(static_cast<I>(slot)) : slot, place, cols_,
                             columns(), values());
  }
}

template <Value V, Index I>
Footprint Sell<V, I>::footprint_of(const Csr<V, I>& matrix, const SellOptions& options) {
  const SliceShape<I> shape(options.slice_height, options.sort_window, matrix.rows());
  const Array<I> row_of_slot = sort_rows_by_length(matrix.pattern(), shape.sort_window);
  const Array<Offset> offsets =
      slice_offsets_of<I>({matrix.pattern(), row_of_slot}, shape.slice_height);
  return footprint_from<V>(static_cast<Offset>(offsets.size()) - 1, !row_of_slot.empty(),
                           matrix.rows(), offsets.back(), matrix.nnz());
}

template <Value V, Index I>
Sell<V, I> Sell<V, I>::from_csr(const Csr<V, I>& matrix, const SellOptions& options) {
  const SliceShape<I> shape(options.slice_height, options.sort_window, matrix.rows());
  Sell sell;
  sell.rows_ = matrix.rows();
  sell.cols_ = matrix.cols();
  sell.nnz_ = matrix.nnz();
  SellArrays<V, I>& arrays = sell.arrays_;
  arrays.slice_height = shape.slice_height;
  arrays.sort_window = shape.sort_window;
  arrays.row_of_slot = sort_rows_by_length(matrix.pattern(), shape.sort_window);
  const SlottedPattern<I> slots{matrix.pattern(), arrays.row_of_slot};
  arrays.slice_offsets = slice_offsets_of(slots, shape.slice_height);
  require_fill(sell.footprint(), options.max_fill, "SELL-C-sigma");

  arrays.row_lengths.resize(matrix.rows());
  parallel_for(matrix.rows(), [&](Offset slot) { arrays.row_lengths[slot] = slots.length(slot); });
  arrays.columns.resize(arrays.slice_offsets.back());
  arrays.values.resize(arrays.slice_offsets.back());
  parallel_dynamic(sell.slices(), 256, [&](Offset begin, Offset end) {
    for (Offset slice = begin; slice < end; ++slice) fill_slice(matrix, slots, slice, arrays);
  });
  return sell;
}

template <Value V, Index I>
void Sell<V, I>::require_pattern(const Csr<V, I>& matrix) const {
  require_same_shape(*this, matrix);
  parallel_for(rows_, [&](Offset slot) {
    const I row = row_at(static_cast<I>(slot));
    const auto others = matrix.pattern().columns_of(row);
    const I length = row_lengths()[slot];
    if (others.size() != static_cast<std::size_t>(length)) throw_other_length(row);
    for (I entry = 0; entry < length; ++entry) {
      if (columns()[position(static_cast<I>(slot), entry)] != others[entry]) {
        throw_other_columns(row);
      }
    }
  });
}

template <Value V, Index I>
void Sell<V, I>::assign_values(const Csr<V, I>& matrix) {
  require_pattern(matrix);
  // Nothing is written before all rows are known to be the same.
  parallel_for(rows_, [&](Offset slot) {
    const Offset source = matrix.row_offsets()[row_at(static_cast<I>(slot))];
    for (I entry = 0; entry < row_lengths()[slot]; ++entry) {
      arrays_.values[position(static_cast<I>(slot), entry)] = matrix.values()[source + entry];
    }
  });
}

template <Value V, Index I>
Csr<V, I> Sell<V, I>::to_csr() const {
  return collect_rows<V, I>(rows_, cols_, [&](I slot, RowEntries<V, I>& entries) {
    for (I entry = 0; entry < row_lengths()[slot]; ++entry) {
      const Offset k = position(slot, entry);
      entries.add(columns()[k], values()[k]);
    }
    return row_at(slot);
  });
}

template <Value V, Index I>
Footprint Sell<V, I>::footprint() const {
  return footprint_from<V>(slices(), sorted(), rows_, slice_offsets().back(), nnz_);
}

#define STRATA_INSTANTIATE(V, I) template class Sell<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
