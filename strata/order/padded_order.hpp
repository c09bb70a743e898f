// PaddedOrder: a reordering of rows with padded rows among them, so that groups of rows can start
// on multiples of a slice height. `position` numbers the rows of the new order, the padded ones
// included. An empty position is a padded row: a row and a column without entries, where vectors
// hold 0, and every power keeps it.
#pragma once

#include <memory>
#include <span>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/row_block.hpp"
#include "strata/order/permutation.hpp"

namespace strata {

template <Index I>
class PaddedOrder {
 public:
  static constexpr I kEmpty = -1;

  PaddedOrder() = default;
  // row_at[position] is a row or kEmpty. Throws InvalidArgument unless every row 0 … rows − 1
  // occurs exactly once.
  PaddedOrder(I rows, Array<I> row_at);

  static PaddedOrder identity(I rows);

  I rows() const { return static_cast<I>(position_of_.size()); }
  I padded_rows() const { return static_cast<I>(row_at_.size()); }
  I row_at(I position) const { return row_at_[position]; }
  I position_of(I row) const { return position_of_[row]; }
  std::span<const I> rows_at(RowRange<I> positions) const {
    return row_at_.subspan(positions.begin, positions.end - positions.begin);
  }
  // Whether every row is where it was.
  bool is_identity() const { return identity_; }

  // gather moves vectors from the order of the rows to the padded order, scatter moves them back,
  // for `count` interleaved vectors: element v of row r at r·count + v. Padded rows become 0. Runs
  // on the threads of parallel_for.
  template <Value V>
  void gather(std::span<const V> of_rows, std::span<V> padded, int count) const;
  template <Value V>
  void scatter(std::span<const V> padded, std::span<V> of_rows, int count) const;

 private:
  using Numbers = std::shared_ptr<const Array<I>>;  // nothing changes them, so copies share them

  Numbers owned_row_at_;
  Numbers owned_position_of_;
  std::span<const I> row_at_;
  std::span<const I> position_of_;
  bool identity_ = true;
};

// The order of the rows alone.
template <Index I>
Permutation<I> without_padding(const PaddedOrder<I>& order);

// A square matrix with its rows and columns in the padded order.
template <Value V, Index I>
Csr<V, I> reordered(const Csr<V, I>& matrix, const PaddedOrder<I>& order);

// The same row by row, where all of it need not be stored: positions [begin, end). The matrix and
// the order must fit.
template <Value V, Index I>
void read_reordered(const Csr<V, I>& matrix, const PaddedOrder<I>& order, RowRange<I> positions,
                    RowBlock<V, I>& block);

// Some rows of the same: positions [begin, end) of each range, one range after another, the columns
// in the padded order.
template <Value V, Index I>
Csr<V, I> reordered_rows(const Csr<V, I>& matrix, const PaddedOrder<I>& order,
                         std::span<const RowRange<I>> ranges);

}  // namespace strata
