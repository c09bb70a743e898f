// Matrices without levels worth searching for: random and power-law graphs, where a few steps lead
// from one row to most others.
#pragma once

#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

// Whether the rows within k steps of the longest row have a 32nd of all entries for a small k, and
// each step but the first two leads to at least three times as many rows as the one before. They
// lie within 2k + 1 levels of every level structure, and the next few steps lead to all others; in
// two or three dimensions steps grow by less. Stops as soon as the answer is known: on a mesh after
// a few hundred rows, else after that part.
//
// False for matrices of so few rows that searching costs nothing. The pattern must be square.
template <Index I>
bool spreads_fast(const PatternView<I>& pattern);

}  // namespace strata
