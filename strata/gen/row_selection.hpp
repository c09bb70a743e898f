// Which rows of a matrix are to be made: a range of them, or a range of a shuffled order of them.
#pragma once

#include <utility>

#include "strata/base/types.hpp"
#include "strata/order/permutation.hpp"

namespace strata {

// An order of all rows in both directions.
template <Index I>
struct Shuffle {
  explicit Shuffle(Permutation<I> order)
      : old_of_new(std::move(order)), new_of_old(old_of_new.inverse()) {}

  Permutation<I> old_of_new;
  Permutation<I> new_of_old;
};

template <Index I>
class RowSelection {
 public:
  // Rows begin … end−1; with a shuffle, which is borrowed, those that it puts there.
  RowSelection(Offset begin, Offset end, const Shuffle<I>* shuffle = nullptr)
      : begin_(begin), end_(end), shuffle_(shuffle) {}

  Offset begin() const { return begin_; }
  Offset size() const { return end_ - begin_; }
  // Whether they are rows begin() … begin() + size() − 1 of the matrix.
  bool contiguous() const { return shuffle_ == nullptr; }

  // The row of the matrix that is number `position` of the selection.
  Offset operator[](Offset position) const {
    const Offset place = begin_ + position;
    return shuffle_ == nullptr ? place : Offset{shuffle_->old_of_new.old_of(static_cast<I>(place))};
  }
  // The other way round; −1 for a row that is not selected.
  Offset position_of(Offset row) const {
    const Offset place =
        shuffle_ == nullptr ? row : Offset{shuffle_->new_of_old.old_of(static_cast<I>(row))};
    return begin_ <= place && place < end_ ? place - begin_ : -1;
  }

 private:
  Offset begin_;
  Offset end_;
  const Shuffle<I>* shuffle_;
};

}  // namespace strata
