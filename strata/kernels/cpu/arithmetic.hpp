// Questions about numbers that kernels and their callers ask of real and complex ones alike.
#pragma once

#include <cmath>

#include "strata/base/types.hpp"

namespace strata::cpu {

template <Value V>
inline bool is_finite(V value) {
  if constexpr (is_complex<V>) {
    return std::isfinite(value.real()) && std::isfinite(value.imag());
  } else {
    return std::isfinite(value);
  }
}

}  // namespace strata::cpu
