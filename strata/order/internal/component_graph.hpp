// A graph with its vertices renamed so that every connected component is a range of vertices, and
// neighbours lie near each other: on a shuffled matrix searches are then twice as fast, and there
// are many of them to come.
#pragma once

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata::detail {

template <Index I>
struct ComponentGraph {
  Pattern<I> pattern;  // symmetric; the entries of a row are in no order
  Array<I> originals;  // the old names of the vertices
  Array<I> offsets;    // component c is vertices [offsets[c], offsets[c+1])

  // `graph` must be symmetric.
  explicit ComponentGraph(const PatternView<I>& graph);

  I count() const { return static_cast<I>(offsets.size() - 1); }
  RowRange<I> component(I c) const { return {offsets[c], offsets[c + 1]}; }
};

}  // namespace strata::detail
