#include "strata/formats/dia.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/reference/common.hpp"
#include "strata/kernels/reference/spmv.hpp"

namespace strata::reference {

template <Value V, Index I>
void spmv(const Dia<V, I>& matrix, Given<V> alpha, Input<V> x, Given<V> beta, Output<V> y,
          Given<RowRange<I>> rows) {
  require_shapes(matrix, x, y, rows);
  for (I row = rows.begin; row < rows.end; ++row) {
    V sum{};
    for (Offset diagonal = 0; diagonal < matrix.diagonals(); ++diagonal) {
      const Offset k = matrix.position(diagonal, row);
      if (matrix.presence().has(k)) sum += matrix.values()[k] * x[row + matrix.offsets()[diagonal]];
    }
    y[row] = alpha * sum + scaled(beta, y[row]);
  }
}

#define STRATA_INSTANTIATE(V, I) \
  template void spmv(const Dia<V, I>&, V, Input<V>, V, Output<V>, RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::reference
