// Arrangement: the matrix as a candidate of a plan runs it.
#pragma once

#include <memory>

#include "strata/base/array.hpp"
#include "strata/kernels/cpu/stored_product.hpp"
#include "strata/order/padded_order.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/internal/stored_matrix.hpp"

namespace strata::detail {

// Rows in some order, stored in some format: as a matrix that sweeps cut into rows or, of products
// in other formats, as a product of all rows.
template <Value V, Index I>
struct Arrangement {
  RowOrder row_order;
  PaddedOrder<I> order;
  StoredFormat stored;
  Array<I> groups = {};  // of rows that sweeps take together, where the format depends on them
  StoredMatrix<V, I> matrix;
  std::unique_ptr<const cpu::StoredProduct<V>> product = nullptr;  // instead of `matrix`
  double conversion_seconds = 0;
  // The least that a product takes, all threads together, wherever its data are; 0: no limit known.
  double kernel_seconds = 0;

  bool is_released() const { return product == nullptr && matrix.rows() < order.padded_rows(); }
};

}  // namespace strata::detail
