// Where level structures may start. Distances from any set of roots make a level structure, but a
// good one has flat levels: that of a cube is n planes of n² rows, while the distances from a
// corner make shells of up to 3n² rows (27-point) or 1.6n² (an unstructured mesh). So there are
// several ways to guess a flat set of roots, and the caller keeps the best of them.
#pragma once

#include <string>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/order/internal/breadth_first.hpp"

namespace strata::detail {

// Searches from the two ends of a connected set of vertices.
template <Index I>
struct Ends {
  Layers<I> from_first;   // from a pseudo-peripheral vertex
  Layers<I> from_second;  // from a vertex of the last level of that one, and not deeper
};

// A. George, J. W. H. Liu: An implementation of a pseudoperipheral node finder, ACM Transactions on
// Mathematical Software 5 (1979). `start` is any of the vertices `within`.
template <Index I>
Ends<I> find_ends(BreadthFirst<I>& search, RowRange<I> within, I start);

// The second part of it: replaces the first end while there is a deeper one.
template <Index I>
void find_other_end(BreadthFirst<I>& search, RowRange<I> within, Ends<I>& ends);

template <Index I>
struct RootSet {
  std::string name;
  Array<I> roots;  // none where a candidate does not apply
  // Empty, or a flag for each vertex of the component: where it is set the vertex is behind the
  // roots, which separate it from all others, and its level is minus its distance from them.
  Array<unsigned char> behind;
};

// One connected component and what is known about it.
template <Index I>
struct Scene {
  BreadthFirst<I>& search;
  RowRange<I> component;
  Ends<I> ends;
};

// The level of each vertex of the component.
template <Index I>
Array<I> level_numbers(const Layers<I>& layers, RowRange<I> component);

// Sides of boxes, from which levels of a lattice are copies of each other. They need the first end
// of the component.
template <Index I>
using SideFinder = RootSet<I> (*)(Scene<I>&);
template <Index I>
const std::vector<SideFinder<I>>& side_finders();

// For everything else, a surface halfway between two vertices: of both ends and one that is far
// from them, the two between which it has the fewest vertices.
template <Index I>
RootSet<I> narrowest_bisector(const Scene<I>& scene);

}  // namespace strata::detail
