#include "strata/order/internal/component_graph.hpp"

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

}  // namespace

template <Index I>
ComponentGraph<I>::ComponentGraph(const PatternView<I>& graph) {
  Array<I> vertices(graph.rows);
  std::iota(vertices.begin(), vertices.end(), I{0});
  Layers<I> components = BreadthFirst<I>(graph).components(vertices);
  originals = std::move(components.order);
  offsets = std::move(components.offsets);
  pattern = renamed(graph, originals);
}

#define STRATA_INSTANTIATE(I) template struct ComponentGraph<I>
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
