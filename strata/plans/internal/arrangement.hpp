// Arrangement: the matrix as a candidate of a plan runs it.
#pragma once

#include <limits>

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
  // Bytes per second from the private cache, all threads together; no limit where it was not timed.
  double kernel_rate = std::numeric_limits<double>::infinity();
};

}  // namespace strata::detail
