#include "strata/formats/ell.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/reference/common.hpp"
#include "strata/kernels/reference/spmv.hpp"

namespace strata::reference {

template <Value V, Index I>
void spmv(const Ell<V, I>& matrix, Given<V> alpha, Input<V> x, Given<V> beta, Output<V> y,
          Given<RowRange<I>> rows) {
  require_shapes(matrix, x, y, rows);
  for (I row = rows.begin; row < rows.end; ++row) {
    V sum{};
    for (I entry = 0; entry < matrix.row_lengths()[row]; ++entry) {
      const Offset k = matrix.position(row, entry);
      sum += matrix.values()[k] * x[matrix.columns()[k]];
    }
    y[row] = alpha * sum + scaled(beta, y[row]);
  }
}

#define STRATA_INSTANTIATE(V, I) \
  template void spmv(const Ell<V, I>&, V, Input<V>, V, Output<V>, RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::reference
