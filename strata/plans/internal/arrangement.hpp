// Arrangement: the matrix as a candidate of a plan runs it.
#pragma once

#include "strata/order/padded_order.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/internal/stored_matrix.hpp"

namespace strata::detail {

// Rows in some order, stored in some format.
template <Value V, Index I>
struct Arrangement {
  RowOrder row_order;
  PaddedOrder<I> order;
  StoredFormat stored;
  StoredMatrix<V, I> matrix;
  double conversion_seconds = 0;
  // The least that a product takes, all threads together, wherever its data are; 0: no limit known.
  double kernel_seconds = 0;
};

}  // namespace strata::detail
