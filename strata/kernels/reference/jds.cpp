#include "strata/formats/jds.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/reference/common.hpp"
#include "strata/kernels/reference/spmv.hpp"

namespace strata::reference {

template <Value V, Index I>
void spmv(const Jds<V, I>& matrix, Given<V> alpha, Input<V> x, Given<V> beta, Output<V> y,
          Given<RowRange<I>> rows) {
  require_shapes(matrix, x, y, rows);
  for (I slot = 0; slot < matrix.rows(); ++slot) {
    const I row = matrix.row_of_slot()[slot];
    if (!rows.contains(row)) continue;
    V sum{};
    for (I diagonal = 0; matrix.has(slot, diagonal); ++diagonal) {
      const Offset k = matrix.position(slot, diagonal);
      sum += matrix.values()[k] * x[matrix.columns()[k]];
    }
    y[row] = alpha * sum + scaled(beta, y[row]);
  }
}

#define STRATA_INSTANTIATE(V, I) \
  template void spmv(const Jds<V, I>&, V, Input<V>, V, Output<V>, RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::reference
