// What a few rows show of a matrix, at a cost that does not grow with it: whether it is worth the
// time to find out more. Each of these may be wrong about the rest of the rows.
#pragma once

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/pattern.hpp"

namespace strata::detail {

// Whether no entry lacks a mirror image with the value that some symmetry asks for.
template <Value V, Index I>
bool looks_symmetric(const Csr<V, I>& matrix);

// How many values BCSR with blocks of b × b would store per entry.
template <Index I>
double sampled_fill(const PatternView<I>& pattern, Offset block);

// How many diagonals have entries, at least.
template <Index I>
Offset diagonals_seen(const PatternView<I>& pattern);

// Whether a row is many times as long as others: of all rows, which takes a pass over the row
// offsets.
template <Index I>
bool has_long_rows(const PatternView<I>& pattern);

}  // namespace strata::detail
