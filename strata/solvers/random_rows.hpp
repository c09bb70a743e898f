// Random vectors by rows: the same numbers whatever order a plan has the rows in.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "strata/base/random.hpp"
#include "strata/base/types.hpp"

namespace strata::solvers {

// Row by row, `vectors` of them interleaved: uniform in (−1, 1), complex ones in both parts. Those
// of `rows` rows from `first_row` on, whose numbers are the same whatever range they are part of.
template <Value V>
std::vector<V> random_rows(Offset rows, int vectors, std::uint64_t seed, Offset first_row = 0) {
  const Random random(seed, 0);
  std::vector<V> values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(vectors));
  const auto first = static_cast<std::size_t>(first_row) * static_cast<std::size_t>(vectors);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::size_t i = first + k;
    if constexpr (is_complex<V>) {
      using Real = typename V::value_type;
      values[k] = V(static_cast<Real>(random.uniform(2 * i, -1, 1)),
                    static_cast<Real>(random.uniform(2 * i + 1, -1, 1)));
    } else {
      values[k] = static_cast<V>(random.uniform(i, -1, 1));
    }
  }
  return values;
}

}  // namespace strata::solvers
