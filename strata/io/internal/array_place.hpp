// Where the values of an array file belong.
#pragma once

#include "strata/base/types.hpp"
#include "strata/io/matrix_market.hpp"

namespace strata::detail {

// Goes through the places of an array in file order: columns one after the other, in symmetric
// storage from the diagonal down, in skew-symmetric storage from below the diagonal.
class ArrayPlace {
 public:
  ArrayPlace(const MatrixMarketHeader& header, Offset position)
      : rows_(header.rows),
        triangle_(header.symmetry != Symmetry::general),
        below_diagonal_(header.symmetry == Symmetry::skew_symmetric ? 1 : 0),
        row_(triangle_ ? below_diagonal_ : position % rows_),
        column_(triangle_ ? 0 : position / rows_) {
    if (!triangle_) return;
    for (; position >= rows_ - row_; next_column()) position -= rows_ - row_;
    row_ += position;
  }

  Offset row() const { return row_; }
  Offset column() const { return column_; }
  void advance() {
    if (++row_ == rows_) next_column();
  }

 private:
  void next_column() {
    ++column_;
    row_ = triangle_ ? column_ + below_diagonal_ : 0;
  }

  Offset rows_;
  bool triangle_;
  Offset below_diagonal_;
  Offset row_;
  Offset column_;
};

}  // namespace strata::detail
