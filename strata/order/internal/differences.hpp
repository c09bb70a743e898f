// How alike the rows of an order are: what tells a lattice, whose rows are shifted copies of each
// other, from other graphs.
#pragma once

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata::detail {

// Distinct differences of row and column per slice of consecutive vertices of a component, over the
// mean number of entries of its rows; from a sample of slices. `place` is where vertices are in the
// order.
template <Index I>
double differences_in(const PatternView<I>& graph, RowRange<I> component, const Array<I>& order,
                      const Array<I>& place);
template <Index I>
double differences_in(const PatternView<I>& graph, RowRange<I> component, const Array<I>& order);

}  // namespace strata::detail
