#include "strata/order/internal/component_graph.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/order/internal/breadth_first.hpp"

namespace strata::detail {

namespace {

// Where among these vertices the first one with the fewest neighbours is.
template <Index I>
I fewest_neighbours(const PatternView<I>& graph, std::span<const I> vertices) {
  const auto found =
      std::ranges::min_element(vertices, {}, [&](I vertex) { return graph.row_length(vertex); });
  return static_cast<I>(found - vertices.begin());
}

// Whether most neighbours have names close to each other, by a sample of the vertices: searches
// then stay in the cache as it is, and renaming would only cost time.
template <Index I>
bool neighbours_are_near(const PatternView<I>& graph) {
  constexpr Offset kSamples = 4096;
  constexpr Offset kNear = 32 * 1024;
  constexpr double kMost = 0.6;
  Offset near = 0;
  Offset edges = 0;
  const Offset stride = std::max<Offset>(graph.rows / kSamples, 1);
  for (Offset vertex = 0; vertex < graph.rows; vertex += stride) {
    for (const I neighbour : graph.columns_of(static_cast<I>(vertex))) {
      near += std::abs(neighbour - vertex) <= kNear ? 1 : 0;
      ++edges;
    }
  }
  return static_cast<double>(near) >= kMost * static_cast<double>(edges);
}

}  // namespace

template <Index I>
ComponentGraph<I>::ComponentGraph(const PatternView<I>& graph) {
  BreadthFirst<I> search(graph);
  Array<I> vertices(graph.rows);
  std::iota(vertices.begin(), vertices.end(), I{0});
  offsets.push_back(0);
  if (graph.rows > 0 && neighbours_are_near(graph)) {
    // The vertex with the fewest neighbours is a corner, or has none but a few at all.
    I start = vertices[fewest_neighbours<I>(graph, vertices)];
    search.search({0, graph.rows}, std::span(&start, 1), first_search);
    if (first_search.order.size() < vertices.size() / 2) {
      const I middle = graph.rows / 2;
      search.search({0, graph.rows}, std::span(&middle, 1), first_search);
      const auto last = first_search.last();
      start = last[fewest_neighbours<I>(graph, last)];
    }
    const std::size_t found = first_search.order.size();
    if (found >= vertices.size() / 2) keep_first_search(vertices, start);
    if (originals.empty() || first_search.order.front() != start) first_search = {};
    if (vertices.empty()) {
      view = graph;
      return;
    }
  }
  const Components<I> others = search.components(vertices);
  const I before = offsets.back();
  for (std::size_t c = 0; c < others.last_levels.size(); ++c) {
    const auto last =
        std::span(others.order)
            .subspan(others.last_levels[c], others.offsets[c + 1] - others.last_levels[c]);
    far_vertices_.push_back(before + others.last_levels[c] + fewest_neighbours<I>(graph, last));
    offsets.push_back(before + others.offsets[c + 1]);
  }
  originals.insert(originals.end(), others.order.begin(), others.order.end());
  rename(graph);
}

// Makes what the first search has found the first component, its vertices in the order that they
// have, and takes it from the vertices.
template <Index I>
void ComponentGraph<I>::keep_first_search(Array<I>& vertices, I start) {
  Array<unsigned char> found(vertices.size(), 0);
  for (const I vertex : first_search.order) found[vertex] = 1;
  std::ranges::copy_if(vertices, std::back_inserter(originals),
                       [&](I vertex) { return found[vertex] != 0; });
  std::erase_if(vertices, [&](I vertex) { return found[vertex] != 0; });
  far_vertices_.push_back(
      static_cast<I>(std::ranges::lower_bound(originals, start) - originals.begin()));
  offsets.push_back(static_cast<I>(originals.size()));
}

// The graph with vertex originals[v] renamed to v.
template <Index I>
void ComponentGraph<I>::rename(const PatternView<I>& graph) {
  pattern_ = {graph.rows, graph.cols, Array<Offset>(static_cast<std::size_t>(graph.rows) + 1),
              Array<I>(graph.columns.size())};
  Array<I> names(graph.rows);
  pattern_.row_offsets[graph.rows] = 0;
  parallel_for(graph.rows, [&](Offset vertex) {
    names[originals[vertex]] = static_cast<I>(vertex);
    pattern_.row_offsets[vertex] = graph.row_length(originals[vertex]);
  });
  exclusive_scan(pattern_.row_offsets);
  parallel_dynamic(graph.rows, 4096, [&](Offset begin, Offset end) {
    Offset place = pattern_.row_offsets[begin];
    for (Offset vertex = begin; vertex < end; ++vertex) {
      prefetch_rows<I>(graph, originals, vertex, end);
      for (const I neighbour : graph.columns_of(originals[vertex])) {
        pattern_.columns[place++] = names[neighbour];
      }
    }
  });
  parallel_for(static_cast<Offset>(first_search.order.size()),
               [&](Offset i) { first_search.order[i] = names[first_search.order[i]]; });
  view = pattern_.view();
}

#define STRATA_INSTANTIATE(I) template struct ComponentGraph<I>
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
