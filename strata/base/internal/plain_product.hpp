// Products of complex numbers by their formula. Those of std::complex check every result for NaN
// and compute it again if there is one, which keeps loops from becoming vector instructions. (The
// kernels have their own, one per level of instructions: kernels/cpu/internal/numbers.hpp.)
#pragma once

#include <complex>

#include "strata/base/types.hpp"

namespace strata::detail {

// ab
template <Value V>
V plain_product(const V& a, const V& b) {
  if constexpr (is_complex<V>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}

// āb
template <Value V>
V conjugate_product(const V& a, const V& b) {
  if constexpr (is_complex<V>) {
    return {a.real() * b.real() + a.imag() * b.imag(), a.real() * b.imag() - a.imag() * b.real()};
  } else {
    return a * b;
  }
}

}  // namespace strata::detail
