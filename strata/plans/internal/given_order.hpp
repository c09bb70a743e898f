// What the given order of rows shows of a matrix without a search for levels.
#pragma once

#include <span>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata::detail {

struct PlaneLimits {
  Offset alignment = 1;  // planes begin at multiples
  Offset smallest = 1;   // rows of a plane, in multiples of the alignment
  Offset fewest = 2;     // planes
};

// A grid in its natural order has planes of equal size, which are levels. The distance between them
// is the middle of the farther half of the neighbours. The first row of every plane and the number
// of rows; nothing where that distance is too small or too large for planes.
template <Index I>
Array<I> find_planes(const PatternView<I>& pattern, const PlaneLimits& limits);

// The most data between a row and the farthest that it reads, in the given order: how far a power
// stays behind the one before it. before[row] is what all rows before it have.
template <Index I>
Offset dependency_distance(const PatternView<I>& pattern, std::span<const Offset> before);

// Whether rows near each other read x far apart, so that most entries cost a cache line of x: by
// how many distinct ones a sample of blocks of rows touches. Another order may then pay by itself.
template <Index I>
bool reads_scattered(const PatternView<I>& pattern);

}  // namespace strata::detail
