// BorrowableArray: elements that are read only, in memory of its own or of somebody else. Matrices
// over a caller's arrays need no copy of them, and whoever reads a matrix need not know.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "strata/base/array.hpp"

namespace strata {

// A copy always owns its elements, whoever owned those it was copied from: what keeps a copy
// depends on nobody. Moving keeps things as they are: what borrowed goes on borrowing.
template <class T>
class BorrowableArray {
 public:
  BorrowableArray() = default;
  BorrowableArray(Array<T> elements) : owned_(std::move(elements)), elements_(owned_) {}

  // Uses the elements where they are. They have to stay there, unchanged, for as long as this
  // array, or one that it has been moved to, is used.
  static BorrowableArray borrow(std::span<const T> elements) {
    BorrowableArray array;
    array.elements_ = elements;
    array.borrows_ = true;
    return array;
  }

  BorrowableArray(const BorrowableArray& other)
      : BorrowableArray(Array<T>(other.elements_.begin(), other.elements_.end())) {}
  // The elements of a vector stay where they are when it is moved, so the view stays good.
  BorrowableArray(BorrowableArray&& other) noexcept
      : owned_(std::exchange(other.owned_, {})),
        elements_(std::exchange(other.elements_, {})),
        borrows_(std::exchange(other.borrows_, false)) {}
  BorrowableArray& operator=(BorrowableArray other) noexcept {
    owned_.swap(other.owned_);
    std::swap(elements_, other.elements_);
    std::swap(borrows_, other.borrows_);
    return *this;
  }
  ~BorrowableArray() = default;

  bool borrows() const { return borrows_; }
  std::size_t size() const { return elements_.size(); }
  std::span<const T> elements() const { return elements_; }
  // Empty if they are borrowed.
  std::span<T> owned_elements() { return owned_; }

  bool operator==(const BorrowableArray& other) const {
    return std::equal(elements_.begin(), elements_.end(), other.elements_.begin(),
                      other.elements_.end());
  }

 private:
  Array<T> owned_;
  std::span<const T> elements_;
  bool borrows_ = false;
};

}  // namespace strata
