// PaddedOrder: a reordering of rows with padded rows among them, so that groups of rows can start
// on multiples of a slice height. `position` numbers the rows of the new order, the padded ones
// included. An empty position is a padded row: a row and a column without entries, where vectors
// hold 0, and every power keeps it.
#pragma once

#include <cstdint>
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

  I rows() const { return rows_; }
  I padded_rows() const { return padded_rows_; }
  I row_at(I position) const { return identity_ ? position : row_at_[position]; }
  I position_of(I row) const { return identity_ ? row : position_of_[row]; }
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

  I rows_ = 0;
  I padded_rows_ = 0;
  // Nothing if every row is where it was.
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

// The same row by row, where all of it need not be stored. Where the entries of a row go is found
// out when the row is read first, and kept: the index and a byte for each entry.
template <Value V, Index I>
class ReorderedRows {
 public:
  // The matrix and the order must fit, and outlive this.
  ReorderedRows(const Csr<V, I>& matrix, const PaddedOrder<I>& order);

  // Positions [begin, end). Threads may read at the same time, each other positions.
  void read(RowRange<I> positions, RowBlock<V, I>& block);

 private:
  enum class Known : std::uint8_t { nothing, in_sequence, places };
  static constexpr std::size_t kLongestKept = 256;  // entries, whose places are bytes

  const Csr<V, I>& matrix_;
  const PaddedOrder<I>& order_;
  Array<Offset> offsets_;  // of the positions
  Array<Known> known_;     // of each position, and then
  Array<I> columns_;       // its columns, and where its entries go
  Array<std::uint8_t> places_;
};

// Some rows of the same: positions [begin, end) of each range, one range after another, the columns
// in the padded order.
template <Value V, Index I>
Csr<V, I> reordered_rows(const Csr<V, I>& matrix, const PaddedOrder<I>& order,
                         std::span<const RowRange<I>> ranges);

}  // namespace strata
