#include "strata/order/internal/component_graph.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/order/internal/breadth_first.hpp"

namespace strata::detail {

namespace {

// The graph with vertex originals[v] renamed to v.
template <Index I>
Pattern<I> renamed(const PatternView<I>& graph, const Array<I>& originals) {
  Pattern<I> result{graph.rows, graph.cols, Array<Offset>(static_cast<std::size_t>(graph.rows) + 1),
                    Array<I>(graph.columns.size())};
  Array<I> names(graph.rows);
  result.row_offsets[graph.rows] = 0;
  parallel_for(graph.rows, [&](Offset vertex) {
    names[originals[vertex]] = static_cast<I>(vertex);
    result.row_offsets[vertex] = graph.row_length(originals[vertex]);
  });
  exclusive_scan(result.row_offsets);
  parallel_dynamic(graph.rows, 4096, [&](Offset begin, Offset end) {
    Offset place = result.row_offsets[begin];
    for (Offset vertex = begin; vertex < end; ++vertex) {
      for (const I neighbour : graph.columns_of(originals[vertex])) {
        result.columns[place++] = names[neighbour];
      }
    }
  });
  return result;
}

// Whether neighbours have names close to each other, by a sample of the vertices: searches then
// stay in the cache as it is, and renaming would only cost time.
template <Index I>
bool neighbours_are_near(const PatternView<I>& graph) {
  constexpr Offset kSamples = 4096;
  constexpr double kNear = 32 * 1024;
  double distance = 0;
  double edges = 0;
  const Offset stride = std::max<Offset>(graph.rows / kSamples, 1);
  for (Offset vertex = 0; vertex < graph.rows; vertex += stride) {
    for (const I neighbour : graph.columns_of(static_cast<I>(vertex))) {
      distance += std::abs(static_cast<double>(neighbour) - static_cast<double>(vertex));
      edges += 1;
    }
  }
  return distance <= kNear * edges;
}

}  // namespace

template <Index I>
ComponentGraph<I>::ComponentGraph(const PatternView<I>& graph) {
  Array<I> vertices(graph.rows);
  std::iota(vertices.begin(), vertices.end(), I{0});
  Layers<I> components = BreadthFirst<I>(graph).components(vertices);
  originals = std::move(components.order);
  offsets = std::move(components.offsets);
  if (count() == 1 && neighbours_are_near(graph)) {
    originals = std::move(vertices);
    view = graph;
    return;
  }
  pattern_ = renamed(graph, originals);
  view = pattern_.view();
}

#define STRATA_INSTANTIATE(I) template struct ComponentGraph<I>
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
