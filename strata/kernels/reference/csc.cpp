#include "strata/formats/csc.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/reference/common.hpp"
#include "strata/kernels/reference/spmv.hpp"

namespace strata::reference {

template <Value V, Index I>
void spmv(const Csc<V, I>& matrix, Given<V> alpha, Input<V> x, Given<V> beta, Output<V> y,
          Given<RowRange<I>> rows) {
  require_shapes(matrix, x, y, rows);
  scale_rows(beta, y, rows);
  for (I column = 0; column < matrix.cols(); ++column) {
    for (Offset k = matrix.column_offsets()[column]; k < matrix.column_offsets()[column + 1]; ++k) {
      const I row = matrix.row_indices()[k];
      if (rows.contains(row)) y[row] += alpha * matrix.values()[k] * x[column];
    }
  }
}

#define STRATA_INSTANTIATE(V, I) \
  template void spmv(const Csc<V, I>&, V, Input<V>, V, Output<V>, RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::reference
