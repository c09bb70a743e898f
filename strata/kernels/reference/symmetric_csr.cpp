#include "strata/formats/symmetric_csr.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/reference/common.hpp"
#include "strata/kernels/reference/spmv.hpp"

namespace strata::reference {

template <Value V, Index I>
void spmv(const SymmetricCsr<V, I>& matrix, Given<V> alpha, Input<V> x, Given<V> beta, Output<V> y,
          Given<RowRange<I>> rows) {
  require_shapes(matrix, x, y, rows);
  scale_rows(beta, y, rows);
  // Rows above the range have no entries in its columns, all rows below may have.
  for (I row = rows.begin; row < matrix.rows(); ++row) {
    for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      const I column = matrix.columns()[k];
      const V value = matrix.values()[k];
      if (rows.contains(row)) y[row] += alpha * value * x[column];
      if (column != row && rows.contains(column)) {
        y[column] += alpha * mirrored(value, matrix.symmetry()) * x[row];
      }
    }
  }
}

#define STRATA_INSTANTIATE(V, I) \
  template void spmv(const SymmetricCsr<V, I>&, V, Input<V>, V, Output<V>, RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::reference
