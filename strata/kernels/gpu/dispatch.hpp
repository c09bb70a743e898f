// From numbers to the kernels that are compiled for them.
#pragma once

#include <type_traits>

#include "strata/base/error.hpp"
#include "strata/base/types.hpp"

namespace strata::gpu {

// Calls body(std::integral_constant<int, vectors>) with the kernel for `count` vectors at a time:
// the smallest of 1, 2, 4 and 8 that is enough.
template <class Body>
void with_vectors(int count, Body&& body) {
  if (count < 1 || count > 8) throw InvalidArgument("kernels take 1 to 8 vectors at a time");
  if (count == 1) return body(std::integral_constant<int, 1>());
  if (count == 2) return body(std::integral_constant<int, 2>());
  if (count <= 4) return body(std::integral_constant<int, 4>());
  body(std::integral_constant<int, 8>());
}

// Calls body(std::integral_constant<int, size>) if `size` is a power of two in [smallest, largest];
// returns whether it is.
template <int smallest, int largest, class Body>
bool with_power_of_two(Offset size, Body&& body) {
  if (size == smallest) {
    body(std::integral_constant<int, smallest>());
    return true;
  }
  if constexpr (smallest < largest) return with_power_of_two<2 * smallest, largest>(size, body);
  return false;
}

}  // namespace strata::gpu
