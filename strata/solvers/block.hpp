// Block: several vectors of a space as one operand.
#pragma once

#include <concepts>

namespace strata::solvers {

// Columns one after another; interleaved, as plans for several vectors have them, element v of row
// r is at r·columns + v.
template <class View>
struct Block {
  Block(View of, int count, bool mixed = false) : data(of), columns(count), interleaved(mixed) {}
  template <class Other>
    requires std::convertible_to<Other, View>
  Block(const Block<Other>& other)
      : data(other.data), columns(other.columns), interleaved(other.interleaved) {}

  View data;
  int columns = 1;
  bool interleaved = false;
};

}  // namespace strata::solvers
