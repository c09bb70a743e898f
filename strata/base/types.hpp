// The vocabulary of the template parameters: which values and indices a matrix can have.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>

namespace strata {

// Positions in arrays of entries, and counts of entries. Always 64 bits wide, so that a matrix with
// 32-bit row and column indices may have more than 2^31 nonzeros.
using Offset = std::int64_t;

template <class V>
concept Value = std::same_as<V, float> || std::same_as<V, double> ||
                std::same_as<V, std::complex<float>> || std::same_as<V, std::complex<double>>;

template <class I>
concept Index = std::same_as<I, std::int32_t> || std::same_as<I, std::int64_t>;

template <class V>
inline constexpr bool is_complex = false;
template <class R>
inline constexpr bool is_complex<std::complex<R>> = true;

// std::conj turns real numbers into complex ones; this one leaves them alone.
template <Value V>
constexpr V conjugate(V value) {
  if constexpr (is_complex<V>) {
    return std::conj(value);
  } else {
    return value;
  }
}

// Rows [begin, end) of a matrix. Every kernel works on one; a whole product is the range of all
// rows.
template <Index I>
struct RowRange {
  I begin = 0;
  I end = 0;

  bool contains(I row) const { return begin <= row && row < end; }
};

}  // namespace strata
