// Patches: the rows of a level in an order in which those of a few slices lie together. Behind
// their first parents, rows come in strips, and around a strip there are more columns than around a
// patch of as many rows. A slice of a patch reads fewer sectors of x, and so do the slices after
// it.
#pragma once

#include "strata/base/types.hpp"
#include "strata/order/internal/breadth_first.hpp"

namespace strata::detail {

// Reorders every level of the component: what comes first and has no place yet begins a patch, and
// its neighbours in the level follow, then theirs, up to `size` vertices. Patches begin in the
// order that the level had, so that those of consecutive levels stay next to each other.
template <Index I>
void arrange_in_patches(const PatternView<I>& graph, RowRange<I> component, I size,
                        Layers<I>& levels);

}  // namespace strata::detail
