#include "strata/formats/packed_sell.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/formats/internal/slices.hpp"
#include "strata/kernels/reference/common.hpp"
#include "strata/kernels/reference/spmv.hpp"

namespace strata::reference {

template <Value V, Index I>
void spmv(const PackedSell<V, I>& matrix, Given<V> alpha, Input<V> x, Given<V> beta, Output<V> y,
          Given<RowRange<I>> rows) {
  require_shapes(matrix, x, y, rows);
  for_each_slot(matrix, rows, [&](I slot, I row) {
    V sum{};
    for (I entry = 0; entry < matrix.width(slot / matrix.slice_height()); ++entry) {
      const Offset k = matrix.position(slot, entry);
      if (matrix.presence().has(k))
        sum += matrix.value(slot, entry) * x[matrix.column(slot, entry)];
    }
    y[row] = alpha * sum + scaled(beta, y[row]);
  });
}

#define STRATA_INSTANTIATE(V, I) \
  template void spmv(const PackedSell<V, I>&, V, Input<V>, V, Output<V>, RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::reference
