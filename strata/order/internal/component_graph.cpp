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
      prefetch_rows<I>(graph, originals, vertex, end);
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

// By union-find in the order of the rows, which reads a graph whose neighbours are near from one
// end to the other; a search would follow its levels through memory.
template <Index I>
bool is_connected(const PatternView<I>& graph) {
  Array<I> leaders(graph.rows);
  std::iota(leaders.begin(), leaders.end(), I{0});
  const auto leader = [&](I vertex) {
    while (leaders[vertex] != vertex) vertex = leaders[vertex] = leaders[leaders[vertex]];
    return vertex;
  };
  I components = graph.rows;
  for (I vertex = 0; vertex < graph.rows; ++vertex) {
    I own = leader(vertex);
    for (const I neighbour : graph.columns_of(vertex)) {
      if (neighbour >= vertex) continue;  // seen from the other end
      const I other = leader(neighbour);
      if (other == own) continue;
      --components;
      leaders[std::max(own, other)] = std::min(own, other);
      own = std::min(own, other);
    }
  }
  return components == 1;
}

}  // namespace

template <Index I>
ComponentGraph<I>::ComponentGraph(const PatternView<I>& graph) {
  const auto fewest_neighbours = [&](std::span<const I> among) {
    return static_cast<I>(
        std::ranges::min_element(among, {}, [&](I v) { return graph.row_length(v); }) -
        among.begin());
  };
  Array<I> vertices(graph.rows);
  std::iota(vertices.begin(), vertices.end(), I{0});
  if (neighbours_are_near(graph) && is_connected(graph)) {
    far_vertices_ = {fewest_neighbours(vertices)};
    offsets = {0, graph.rows};
    originals = std::move(vertices);
    view = graph;
    return;
  }
  Components<I> components = BreadthFirst<I>(graph).components(vertices);
  originals = std::move(components.order);
  offsets = std::move(components.offsets);
  far_vertices_ = std::move(components.last_levels);
  for (I c = 0; c < count(); ++c) {
    const auto component = std::span<const I>(originals).first(offsets[c + 1]);
    far_vertices_[c] += fewest_neighbours(component.subspan(far_vertices_[c]));
  }
  pattern_ = renamed(graph, originals);
  view = pattern_.view();
}

#define STRATA_INSTANTIATE(I) template struct ComponentGraph<I>
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
