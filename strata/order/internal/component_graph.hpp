// A graph with its vertices renamed so that every connected component is a range of vertices, and
// neighbours lie near each other: on a shuffled matrix searches are then twice as fast. Where
// neighbours are near each other already, vertices keep their names, but for those that are not
// connected with most others. Where all are connected, renaming is left to whoever has several
// searches to come.
#pragma once

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"
#include "strata/order/internal/breadth_first.hpp"

namespace strata::detail {

template <Index I>
struct ComponentGraph {
  PatternView<I> view;  // symmetric; the entries of a row may be in no order
  Array<I> offsets;     // component c is vertices [offsets[c], offsets[c+1])

  Layers<I> first_search;  // of component 0 from far_vertex(0), if there has been one

  // A vertex of the component to begin with, likely at one of its ends: the one with the fewest
  // neighbours, in the last level of a search if one was made.
  I far_vertex(I c) const { return far_vertices_[c]; }

  // `graph` must be symmetric and outlive this.
  explicit ComponentGraph(const PatternView<I>& graph);

  I count() const { return static_cast<I>(offsets.size() - 1); }
  RowRange<I> component(I c) const { return {offsets[c], offsets[c + 1]}; }
  // The old name of a vertex.
  I original(I vertex) const { return originals_.empty() ? vertex : originals_[vertex]; }

  // Renames the vertices if that was left: they are named in the order of a search of component 0
  // then, which is all there is. Returns whether it was.
  bool bring_near(const Array<I>& order);

  // The view may point into the graph itself.
  ComponentGraph(const ComponentGraph&) = delete;
  ComponentGraph& operator=(const ComponentGraph&) = delete;

 private:
  I first_start(BreadthFirst<I>& search);
  void rename();

  bool far_ = false;       // neighbours are far from each other, and have been left so
  Pattern<I> pattern_;     // if renamed
  Array<I> originals_;     // the old names of the vertices; empty: as they are
  Array<I> far_vertices_;  // of components
};

}  // namespace strata::detail
