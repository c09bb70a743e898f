// Values that repeat in the ways that packed SELL stores differently, on any pattern.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "strata/base/random.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/packed_sell.hpp"
#include "tests/support/matrices.hpp"

namespace strata::test {

enum class Repeats {
  one_value,         // everywhere
  by_offset,         // one for each distance from the diagonal
  random_diagonal,   // the same, but for the diagonal
  few,               // five, anywhere
  hundreds,          // 300, anywhere
  few_and_diagonal,  // five, and a diagonal of its own
  special,           // −0, infinities, two NaNs, the smallest number, and 0
  never,
};
inline constexpr std::array kRepeats{
    Repeats::one_value, Repeats::by_offset,        Repeats::random_diagonal, Repeats::few,
    Repeats::hundreds,  Repeats::few_and_diagonal, Repeats::special,         Repeats::never};

template <Value V>
V special_value(std::uint64_t number) {
  using Real = decltype(std::abs(V{}));
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  const std::array<Real, 7> values{Real{0},
                                   -Real{0},
                                   infinity,
                                   -infinity,
                                   std::numeric_limits<Real>::quiet_NaN(),
                                   -std::numeric_limits<Real>::quiet_NaN(),
                                   std::numeric_limits<Real>::denorm_min()};
  if constexpr (is_complex<V>) {
    return V(values[number % 7], values[number / 7 % 7]);
  } else {
    return values[number % 7];
  }
}

template <Value V, Index I>
Csr<V, I> with_repeats(Csr<V, I> matrix, Repeats repeats) {
  const Random random(7);
  const auto drawn = [&](std::uint64_t number) { return random_vector<V>(1, 1000 + number)[0]; };
  for (I row = 0; row < matrix.rows(); ++row) {
    for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      const auto entry = static_cast<std::uint64_t>(k);
      const Offset offset = Offset{matrix.columns()[k]} - row;
      const auto of_offset = static_cast<std::uint64_t>(offset + (Offset{1} << 40));
      V& value = matrix.mutable_values()[k];
      switch (repeats) {
        case Repeats::one_value: value = drawn(0); break;
        case Repeats::by_offset: value = drawn(of_offset); break;
        case Repeats::random_diagonal: value = drawn(offset == 0 ? entry : of_offset); break;
        case Repeats::few: value = drawn(random.below(entry, 5)); break;
        case Repeats::hundreds: value = drawn(random.below(entry, 300)); break;
        case Repeats::few_and_diagonal:
          value = drawn(offset == 0 ? 1000 + entry : random.below(entry, 5));
          break;
        case Repeats::special: value = special_value<V>(random.bits(entry)); break;
        case Repeats::never: value = drawn(entry); break;
      }
    }
  }
  return matrix;
}

// Bit by bit: −0 is not 0, and NaNs with different payloads differ.
template <Value V>
bool same_bits(std::span<const V> a, std::span<const V> b) {
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}
// The same for results, whose NaNs have whatever payload arithmetic gives them.
template <Value V>
bool same_results(const std::vector<V>& a, const std::vector<V>& b) {
  using Real = decltype(std::abs(V{}));
  const auto same = [](Real one, Real other) {
    return (std::isnan(one) && std::isnan(other)) || std::memcmp(&one, &other, sizeof one) == 0;
  };
  return std::ranges::equal(a, b, [&](V one, V other) {
    return same(std::real(one), std::real(other)) && same(std::imag(one), std::imag(other));
  });
}

// From which every matrix can be stored.
inline constexpr AllowedValues kAllowedValues[] = {
    {},
    {.constant = false},
    {.dict8 = false},
    {.constant = false, .dict8 = false},
    {.dict8 = false, .dict16 = false},
    {.most_codes = 4},
};

}  // namespace strata::test
