#include "strata/formats/bcsr.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/reference/common.hpp"
#include "strata/kernels/reference/spmv.hpp"

namespace strata::reference {

template <Value V, Index I>
void spmv(const Bcsr<V, I>& matrix, Given<V> alpha, Input<V> x, Given<V> beta, Output<V> y,
          Given<RowRange<I>> rows) {
  require_shapes(matrix, x, y, rows);
  for (I row = rows.begin; row < rows.end; ++row) {
    V sum{};
    const I block_row = row / matrix.block_rows();
    for (Offset block = matrix.block_row_offsets()[block_row];
         block < matrix.block_row_offsets()[block_row + 1]; ++block) {
      const I first_column = matrix.block_columns()[block] * matrix.block_cols();
      for (I j = 0; j < matrix.block_cols(); ++j) {
        const Offset k = matrix.position(block, row) + j;
        if (matrix.presence().has(k)) sum += matrix.values()[k] * x[first_column + j];
      }
    }
    y[row] = alpha * sum + scaled(beta, y[row]);
  }
}

#define STRATA_INSTANTIATE(V, I) \
  template void spmv(const Bcsr<V, I>&, V, Input<V>, V, Output<V>, RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::reference
