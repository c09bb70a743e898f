#include "strata/formats/blocked_coo.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/reference/common.hpp"
#include "strata/kernels/reference/spmv.hpp"

namespace strata::reference {

template <Value V, Index I>
void spmv(const BlockedCoo<V, I>& matrix, Given<V> alpha, Input<V> x, Given<V> beta, Output<V> y,
          Given<RowRange<I>> rows) {
  require_shapes(matrix, x, y, rows);
  scale_rows(beta, y, rows);
  for (Offset block = 0; block < std::ssize(matrix.block_offsets()) - 1; ++block) {
    const Offset first_row = block / matrix.blocks_across() * matrix.block_rows();
    const Offset first_column = block % matrix.blocks_across() * matrix.block_cols();
    for (Offset k = matrix.block_offsets()[block]; k < matrix.block_offsets()[block + 1]; ++k) {
      const auto row = static_cast<I>(first_row + matrix.row_indices()[k]);
      if (!rows.contains(row)) continue;
      y[row] += alpha * matrix.values()[k] * x[first_column + matrix.column_indices()[k]];
    }
  }
}

#define STRATA_INSTANTIATE(V, I) \
  template void spmv(const BlockedCoo<V, I>&, V, Input<V>, V, Output<V>, RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::reference
