// Block Jacobi: a preconditioner that solves with the dense blocks on the diagonal, so many rows
// each, in the caller's order; the last one may be smaller. One row each is Jacobi's method.
#pragma once

#include <span>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/formats/csr.hpp"
#include "strata/order/padded_order.hpp"

namespace strata::solvers {

inline constexpr int kMostBlockRows = 64;

// The inverses of the blocks on the diagonal, one after another, each row by row; each but the last
// has block_rows² elements. Throws InvalidArgument for blocks that are not 1 … kMostBlockRows rows
// high, and, naming its first row, for one that is singular. Rows may be those of a larger matrix
// from `first_row` on, where the first block begins.
template <Value V, Index I>
Array<V> block_inverses(const Csr<V, I>& matrix, int block_rows, Offset first_row = 0);

template <Value V, Index I>
class BlockJacobi {
 public:
  BlockJacobi() = default;
  // For vectors in this order. Throws what block_inverses throws.
  BlockJacobi(const Csr<V, I>& matrix, int block_rows, const PaddedOrder<I>& order);
  // For vectors of the rows in their order; rows as block_inverses has them.
  BlockJacobi(const Csr<V, I>& matrix, int block_rows, Offset first_row);

  // y = D⁻¹x, on the threads of parallel_for; 0 in padded rows.
  void apply(std::span<const V> x, std::span<V> y) const;

 private:
  int block_rows_ = 1;
  I rows_ = 0;
  Array<V> inverses_;
  Array<I> position_of_;  // of the rows
};

}  // namespace strata::solvers
