// Level groups: consecutive levels put together until they are worth a task, in the order in which
// powers sweep through them. The order of the rows within a level is free. Levels stay one after
// another, so that the order of the rows, and with it every bit of the powers, does not depend on
// the size of the groups.
#pragma once

#include <string_view>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"
#include "strata/order/levels.hpp"
#include "strata/order/padded_order.hpp"

namespace strata {

enum class InnerOrder {
  natural,  // by their number in the matrix: shifted copies of each other in a stencil stay so
  bfs,      // as the levels were found, neighbours behind neighbours
};

constexpr std::string_view name_of(InnerOrder order) {
  return order == InnerOrder::natural ? "natural" : "BFS";
}

template <Index I>
struct LevelGroupOptions {
  Offset group_entries = 1;  // levels are put together up to so many entries; one level at least
  I alignment = 1;           // every group starts at a multiple, after empty padded rows
  InnerOrder inner = InnerOrder::natural;
  I sort_window = 1;  // rows are sorted by length inside windows of this many of a level
};

template <Index I>
struct LevelGroups {
  PaddedOrder<I> order;
  Array<I> group_offsets = Array<I>(1, 0);  // groups + 1, in padded rows
};

template <Index I>
LevelGroups<I> group_levels(const PatternView<I>& pattern, const LevelStructure<I>& structure,
                            const LevelGroupOptions<I>& options);

}  // namespace strata
