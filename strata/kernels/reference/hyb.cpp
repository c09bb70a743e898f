#include "strata/formats/hyb.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/reference/common.hpp"
#include "strata/kernels/reference/spmv.hpp"

namespace strata::reference {

template <Value V, Index I>
void spmv(const Hyb<V, I>& matrix, Given<V> alpha, Input<V> x, Given<V> beta, Output<V> y,
          Given<RowRange<I>> rows) {
  require_shapes(matrix, x, y, rows);
  spmv(matrix.ell(), alpha, x, beta, y, rows);
  spmv(matrix.rest(), alpha, x, V{1}, y, rows);
}

#define STRATA_INSTANTIATE(V, I) \
  template void spmv(const Hyb<V, I>&, V, Input<V>, V, Output<V>, RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::reference
