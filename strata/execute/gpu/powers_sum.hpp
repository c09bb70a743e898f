// PowersSum: Σ c_k y_k of the powers that are computed.
#pragma once

#include <cstddef>
#include <span>

#include "strata/base/types.hpp"

namespace strata::gpu {

// Of all powers or, for a sweep, of some that follow one another.
template <Value V>
struct PowersSum {
  V* target = nullptr;              // none: nothing is added up
  std::span<const V> coefficients;  // of the powers
  V start = {};                     // of y_0,
  bool starts = false;              // with which the sum begins

  // Of the powers from k + 1 on.
  PowersSum after(std::size_t k) const {
    if (target == nullptr || k == 0) return *this;
    return {target, coefficients.subspan(k), V{}, false};
  }
};

}  // namespace strata::gpu
