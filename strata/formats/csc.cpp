#include "strata/formats/csc.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/formats/internal/validation.hpp"

namespace strata {

template <Value V, Index I>
Csc<V, I>::Csc(I rows, I cols, Array<Offset> column_offsets, Array<I> row_indices,
               Array<V> values) {
  // The transpose would refuse the same arrays, but speak of rows where columns are meant.
  require_shape(rows, cols);
  require_size("row indices", row_indices.size(), static_cast<Offset>(values.size()));
  require_offsets(kColumns, cols, column_offsets, row_indices.size());
  require_increasing<I>(kColumns, rows, column_offsets, row_indices);
  transpose_ =
      Csr<V, I>(cols, rows, std::move(column_offsets), std::move(row_indices), std::move(values));
}

template <Value V, Index I>
Csc<V, I> Csc<V, I>::from_csr(const Csr<V, I>& matrix) {
  Csc csc;
  csc.transpose_ = transposed(matrix);
  return csc;
}

template <Value V, Index I>
Csr<V, I> Csc<V, I>::to_csr() const {
  return transposed(transpose_);
}

template <Value V, Index I>
Footprint Csc<V, I>::footprint_of(const Csr<V, I>& matrix) {
  constexpr std::string_view what = "the size of a CSC matrix";
  const Offset offsets = checked_add<Offset>(matrix.cols(), 1, what);
  return {.value_bytes = bytes_of<V>(matrix.nnz()),
          .index_bytes = checked_add(bytes_of<I>(matrix.nnz()), bytes_of<Offset>(offsets), what),
          .stored_entries = matrix.nnz(),
          .entries = matrix.nnz()};
}

#define STRATA_INSTANTIATE(V, I) template class Csc<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
