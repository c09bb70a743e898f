#include "strata/formats/coo.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/reference/common.hpp"
#include "strata/kernels/reference/spmv.hpp"

namespace strata::reference {

template <Value V, Index I>
void spmv(const Coo<V, I>& matrix, Given<V> alpha, Input<V> x, Given<V> beta, Output<V> y,
          Given<RowRange<I>> rows) {
  require_shapes(matrix, x, y, rows);
  scale_rows(beta, y, rows);
  for (Offset k = 0; k < matrix.nnz(); ++k) {
    const I row = matrix.row_indices()[k];
    if (rows.contains(row)) y[row] += alpha * matrix.values()[k] * x[matrix.column_indices()[k]];
  }
}

#define STRATA_INSTANTIATE(V, I) \
  template void spmv(const Coo<V, I>&, V, Input<V>, V, Output<V>, RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::reference
