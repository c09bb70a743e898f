// Reverse Cuthill–McKee: the classic order for a small bandwidth.
#pragma once

#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"
#include "strata/order/permutation.hpp"

namespace strata {

// Breadth-first search of each connected component of A + Aᵀ from a pseudo-peripheral row,
// neighbours by increasing degree, and the whole order reversed (E. Cuthill, J. McKee, 1969;
// A. George, 1971). Throws InvalidArgument unless the pattern is square.
template <Index I>
Permutation<I> reverse_cuthill_mckee(const PatternView<I>& pattern);

// The largest |i − j| of an entry (i, j); 0 without entries.
template <Index I>
Offset bandwidth(const PatternView<I>& pattern);

}  // namespace strata
