// Orders of rows for the tests.
#pragma once

#include "strata/base/random.hpp"
#include "strata/order/padded_order.hpp"
#include "strata/order/permutation.hpp"

namespace strata::test {

// A random order of the rows with padded rows scattered among them.
template <Index I>
Array<I> padded_rows(I rows, std::uint64_t seed) {
  const Random random(seed, 5);
  const auto order = Permutation<I>::random(rows, seed);
  Array<I> row_at;
  for (I i = 0; i < rows; ++i) {
    for (auto empty = random.below(i, 4); empty > 2; --empty) {
      row_at.push_back(PaddedOrder<I>::kEmpty);
    }
    row_at.push_back(order.old_of(i));
  }
  row_at.insert(row_at.end(), 3, PaddedOrder<I>::kEmpty);
  return row_at;
}

}  // namespace strata::test
