// What the CPU kernels share: multiplication without the detours of std::complex, the end of a row,
// and the choice of code for a number of vectors.
#pragma once

#include <cmath>
#include <utility>

#include "strata/base/error.hpp"
#include "strata/kernels/cpu/step.hpp"

namespace strata::cpu {

// sum + a·b. operator* of std::complex checks every product for NaN and recomputes it.
template <Value V>
inline V multiply_add(V a, V b, V sum) {
  if constexpr (is_complex<V>) {
    return {sum.real() + a.real() * b.real() - a.imag() * b.imag(),
            sum.imag() + a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return sum + a * b;
  }
}

template <Value V>
inline bool is_finite(V value) {
  if constexpr (is_complex<V>) {
    return std::isfinite(value.real()) && std::isfinite(value.imag());
  } else {
    return std::isfinite(value);
  }
}

// Writes element `i` of the vectors from the row's sum of products.
template <Value V>
inline void finish(const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors, Offset i,
                   V sum) {
  if (coefficients.shift != V{}) {
    sum = multiply_add(-coefficients.shift, vectors.x[i], sum);
  }
  V result = multiply_add(coefficients.alpha, sum, V{});
  if (coefficients.beta != V{}) {
    result = multiply_add(coefficients.beta, vectors.previous[i], result);
  }
  vectors.out[i] = result;
}

// Calls body(std::integral_constant<int, count>) for a count of 1 … kMaxVectors.
template <class Body>
void with_vector_count(int count, Body&& body) {
  const auto find = [&]<int... candidate>(std::integer_sequence<int, candidate...>) {
    return (
        (count == candidate + 1 && (body(std::integral_constant<int, candidate + 1>()), true)) ||
        ...);
  };
  if (!find(std::make_integer_sequence<int, kMaxVectors>())) {
    throw InvalidArgument("kernels take 1 to 8 vectors at a time");
  }
}

}  // namespace strata::cpu
