// Levels laid out like each other. The rows of a level may be in any order; in that of a lattice
// each level is a shifted copy of the one before, and so packed SELL needs no indices (`dia`). The
// order of a shuffled lattice is found again without coordinates:
//
//   - a face is ordered as a lattice of one dimension less, down to a path;
//   - the rows of every other level are sorted by the mean place of their neighbours in the level
//     before. In a lattice that is their own place, a little moved towards the middle at the
//     borders, which keeps the sequence.
//
// Whether it is a lattice is seen from the result: how many distinct differences of row and column
// slices of rows have.
#pragma once

#include <optional>
#include <span>

#include "strata/base/types.hpp"
#include "strata/order/internal/breadth_first.hpp"

namespace strata::detail {

// Whether the rows of a component are regular enough to look for a lattice: many of them have
// equally many neighbours. From a sample.
template <Index I>
bool is_regular(const PatternView<I>& graph, RowRange<I> component);

// The levels of a component from these roots, the rows inside each of them in the order of a
// lattice. None if that does not make them copies of each other, or if what is asked after every
// level says no.
template <Index I>
std::optional<Layers<I>> lay_out_copies(BreadthFirst<I>& search, RowRange<I> component,
                                        std::span<const I> roots,
                                        const typename BreadthFirst<I>::GoOn& go_on);

}  // namespace strata::detail
