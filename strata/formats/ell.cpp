#include "strata/formats/ell.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/internal/collect.hpp"
#include "strata/formats/internal/padded.hpp"
#include "strata/formats/internal/row_lengths.hpp"

namespace strata {

namespace {

template <Value V, Index I>
Footprint footprint_from(I rows, I width, Offset entries) {
  const Offset stored = checked_multiply<Offset>(rows, width, "the size of an ELLPACK matrix");
  return {.value_bytes = bytes_of<V>(stored),
          .index_bytes = bytes_of<I>(stored),
          .stored_entries = stored,
          .entries = entries};
}

}  // namespace

template <Value V, Index I>
Ell<V, I>::Ell(I rows, I cols, I width, Array<I> row_lengths, Array<I> columns, Array<V> values)
    : rows_(rows),
      cols_(cols),
      width_(width),
      row_lengths_(std::move(row_lengths)),
      columns_(std::move(columns)),
      values_(std::move(values)) {
  validate();
  nnz_ = sum_of_lengths<I>(row_lengths_);
}

template <Value V, Index I>
void Ell<V, I>::validate() const {
  require_shape(rows_, cols_);
  if (width_ < 0 || width_ > cols_) {
    throw InvalidMatrix(fmt::format("rows of {} columns cannot have width {}", cols_, width_));
  }
  const Offset stored = checked_multiply<Offset>(rows_, width_, "the size of an ELLPACK matrix");
  require_size("row lengths", row_lengths_.size(), rows_);
  require_size("columns", columns_.size(), stored);
  require_size("values", values_.size(), stored);
  parallel_for(rows_, [&](Offset row) {
    const PaddedRow place{
        .begin = row, .stride = rows_, .length = row_lengths_[row], .width = width_};
    require_padded_row<V, I>(row, place, cols_, columns_, values_);
  });
}

template <Value V, Index I>
Footprint Ell<V, I>::footprint_of(const Csr<V, I>& matrix, const EllOptions&) {
  return footprint_from<V>(matrix.rows(), longest_row(matrix.pattern()), matrix.nnz());
}

template <Value V, Index I>
Ell<V, I> Ell<V, I>::from_csr(const Csr<V, I>& matrix, const EllOptions& options) {
  const I width = longest_row(matrix.pattern());
  require_fill(footprint_from<V>(matrix.rows(), width, matrix.nnz()), options.max_fill, "ELLPACK");
  return from_leading_entries(matrix, width);
}

template <Value V, Index I>
Ell<V, I> Ell<V, I>::from_leading_entries(const Csr<V, I>& matrix, I width) {
  const PatternView<I> pattern = matrix.pattern();
  Ell ell;
  ell.rows_ = matrix.rows();
  ell.cols_ = matrix.cols();
  ell.width_ = width;
  const Offset stored = ell.footprint().stored_entries;
  ell.row_lengths_.resize(matrix.rows());
  ell.columns_.resize(stored);
  ell.values_.resize(stored);
  parallel_for(matrix.rows(), [&](Offset row) {
    const I length = std::min(width, pattern.row_length(static_cast<I>(row)));
    const auto columns = pattern.columns_of(static_cast<I>(row)).first(length);
    ell.row_lengths_[row] = length;
    const PaddedRow place{.begin = row, .stride = matrix.rows(), .length = length, .width = width};
    const I own_column = std::min(static_cast<I>(row), static_cast<I>(matrix.cols() - 1));
    store_padded_row<V, I>(place, columns, matrix.values().subspan(pattern.row_offsets[row]),
                           length > 0 ? columns.back() : own_column, ell.columns_, ell.values_);
  });
  ell.nnz_ = sum_of_lengths<I>(ell.row_lengths_);
  return ell;
}

template <Value V, Index I>
Csr<V, I> Ell<V, I>::to_csr() const {
  return collect_rows<V, I>(rows_, cols_, [&](I row, RowEntries<V, I>& entries) {
    for (I entry = 0; entry < row_lengths_[row]; ++entry) {
      const Offset k = position(row, entry);
      entries.add(columns_[k], values_[k]);
    }
    return row;
  });
}

template <Value V, Index I>
Footprint Ell<V, I>::footprint() const {
  return footprint_from<V>(rows_, width_, nnz_);
}

#define STRATA_INSTANTIATE(V, I) template class Ell<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
