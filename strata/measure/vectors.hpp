// Vectors to measure and to check with: numbers without a pattern, and numbers that cannot be taken
// for a result.
#pragma once

#include <cstdint>
#include <span>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"

namespace strata {

// Random numbers in [−1, 1), in both parts if complex. The same on every machine. With `first`, so
// many elements of a longer vector from there on.
template <Value V>
Array<V> random_vector(Offset size, std::uint64_t seed, Offset first = 0);

// Fills a vector with quiet NaN before a result is written to it. Any other number could be right:
// zeros are where rows are empty, and what an earlier run left is right everywhere. NaN is right
// nowhere a bound of the result is finite, and whatever is computed from it is NaN as well. Its
// payload ("STRATA" in double precision, "ST" in single) distinguishes it from the NaN that
// overflows end in.
template <Value V>
void poison(std::span<V> vector);

// Whether a number is what poison left, or a processor made of that.
template <Value V>
bool is_poison(V number);

}  // namespace strata
