// Numbers for tests of spaces, and how far sums of them may be from each other.
#pragma once

#include <complex>
#include <limits>
#include <vector>

#include "strata/base/random.hpp"
#include "strata/base/types.hpp"

namespace strata::test {

template <Value V>
std::vector<V> solver_numbers(Offset count, std::uint64_t seed) {
  const Random random(seed, 3);
  std::vector<V> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double a = random.uniform(2 * i) - 0.5, b = random.uniform(2 * i + 1) - 0.5;
    if constexpr (is_complex<V>) {
      values[i] = V(static_cast<typename V::value_type>(a), static_cast<typename V::value_type>(b));
    } else {
      values[i] = static_cast<V>(a);
    }
  }
  return values;
}

template <Value V>
double sum_tolerance(Offset count) {
  return 4.0 * static_cast<double>(count + 1) *
         std::numeric_limits<decltype(std::abs(V()))>::epsilon();
}

}  // namespace strata::test
