#include "strata/formats/sell.hpp"

#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/kernels/reference/common.hpp"
#include "strata/kernels/reference/spmv.hpp"

namespace strata::reference {

template <Value V, Index I>
void spmv(const Sell<V, I>& matrix, Given<V> alpha, Input<V> x, Given<V> beta, Output<V> y,
          Given<RowRange<I>> rows) {
  require_shapes(matrix, x, y, rows);
  // A row stays in its sort window, so the windows that the range touches hold all its rows.
  const Offset window = matrix.sort_window();
  const Offset begin = rows.begin / window * window;
  const Offset end = std::min<Offset>(divide_up<Offset>(rows.end, window) * window, matrix.rows());
  for (I slot = static_cast<I>(begin); slot < end; ++slot) {
    const I row = matrix.row_at(slot);
    if (!rows.contains(row)) continue;
    V sum{};
    for (I entry = 0; entry < matrix.row_lengths()[slot]; ++entry) {
      const Offset k = matrix.position(slot, entry);
      sum += matrix.values()[k] * x[matrix.columns()[k]];
    }
    y[row] = alpha * sum + scaled(beta, y[row]);
  }
}

#define STRATA_INSTANTIATE(V, I) \
  template void spmv(const Sell<V, I>&, V, Input<V>, V, Output<V>, RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::reference
