// Breadth-first search, the step that level structures and Cuthill–McKee share.
//
// A vertex belongs to the first vertex of the previous level that has it as a neighbour, its first
// parent. Levels are written in the order of first parents, and that makes the result independent
// of the number of threads: pieces of a level are expanded in parallel, every vertex found takes
// the smallest position of a parent by an atomic minimum, and then each piece keeps those vertices
// that are its own.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata::detail {

// Vertices level by level: level l is order[offsets[l] … offsets[l+1]).
template <Index I>
struct Layers {
  Array<I> order;
  Array<I> offsets = Array<I>(1, 0);

  I count() const { return static_cast<I>(offsets.size() - 1); }
  I size(I l) const { return offsets[l + 1] - offsets[l]; }
  std::span<const I> level(I l) const { return std::span(order).subspan(offsets[l], size(l)); }
  std::span<const I> last() const { return level(count() - 1); }
};

// Connected components: component c is order[offsets[c] … offsets[c+1]), in the order of a search,
// whose last level begins at last_levels[c].
template <Index I>
struct Components {
  Array<I> order;
  Array<I> offsets = Array<I>(1, 0);
  Array<I> last_levels;
};

// body(l) for every level l of rows [offsets[l], offsets[l+1]), in parallel.
template <Index I, class Body>
void for_each_level(std::span<const I> offsets, Body&& body) {
  const auto count = static_cast<Offset>(offsets.size()) - 1;
  const Offset rows = std::max<Offset>(offsets.back(), 1);
  parallel_dynamic(count, ceil_div(count * kSerialBelow, rows), [&](Offset begin, Offset end) {
    for (Offset level = begin; level < end; ++level) body(static_cast<I>(level));
  });
}

// Prefetches what the vertices after `position` of an order that is gone through up to `end` will
// need: it may be anywhere in memory. (GCC takes a function that only prefetches for one without
// effect, and drops its calls unless they are inlined.)
template <Index I>
[[gnu::always_inline]] inline void prefetch_rows(const PatternView<I>& graph,
                                                 std::span<const I> order, Offset position,
                                                 Offset end) {
  constexpr Offset kOffsetsAhead = 8;
  constexpr Offset kColumnsAhead = 4;
  if (position >= end - kOffsetsAhead) return;
  __builtin_prefetch(&graph.row_offsets[order[position + kOffsetsAhead]]);
  const auto columns = graph.columns_of(order[position + kColumnsAhead]);
  __builtin_prefetch(columns.data());
  __builtin_prefetch(columns.data() + columns.size() / 2);
}

// How the children of one vertex are ordered among themselves.
enum class Children { as_in_row, by_degree };

template <Index I>
class BreadthFirst {
 public:
  // The graph must be symmetric and outlive the search. Its rows need not be sorted.
  explicit BreadthFirst(const PatternView<I>& graph, Children children = Children::as_in_row);

  // Searches another graph with as many vertices from now on.
  void search_in(const PatternView<I>& graph) { graph_ = graph; }

  // Asked after every level; the search ends early where it says no.
  using GoOn = std::function<bool(std::span<const I> level)>;

  // Searches the subgraph of the vertices `within` from the roots, which are some of them and make
  // up level 0 as they stand. Returns whether the search came to its end.
  bool search(RowRange<I> within, std::span<const I> roots, Layers<I>& found,
              const GoOn& go_on = {});
  bool search(std::span<const I> within, std::span<const I> roots, Layers<I>& found,
              const GoOn& go_on = {});

  // The vertices, one connected component of their subgraph after the other, each in the order of
  // a search from the first of its vertices.
  Components<I> components(std::span<const I> vertices);

  const PatternView<I>& graph() const { return graph_; }

 private:
  struct Claim {
    I parent;
    I vertex;
  };

  bool search_open(std::span<const I> roots, Layers<I>& found, const GoOn& go_on);
  // Writes the open neighbours of order[begin … end) to order[end …), and returns where they end.
  I expand(Array<I>& order, I begin, I end);
  I expand_on_this_thread(Array<I>& order, I begin, I end);
  I expand_in_parallel(Array<I>& order, I begin, I end);
  void arrange_children(std::span<I> children) const;

  // A vertex that can still be found, and one that cannot, as values of parents_.
  static constexpr I kOpen = std::numeric_limits<I>::max();
  static constexpr I kClosed = -1;

  PatternView<I> graph_;
  Children children_;
  Array<I> parents_;  // position of the first parent in the order
  std::vector<std::vector<Claim>> claims_;
};

}  // namespace strata::detail
