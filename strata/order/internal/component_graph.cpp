#include "strata/order/internal/component_graph.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/order/internal/breadth_first.hpp"
#include "strata/order/internal/selected.hpp"

namespace strata::detail {

namespace {

// The first of these places with the fewest neighbours of the vertices that are there.
template <Index I, class VertexAt>
I fewest_neighbours(const PatternView<I>& graph, RowRange<I> places, const VertexAt& vertex_at) {
  const auto fewer = [&](I one, I other) {
    return graph.row_length(vertex_at(other)) < graph.row_length(vertex_at(one)) ? other : one;
  };
  return parallel_reduce(
      places.end - places.begin, places.begin,
      [&](Offset begin, Offset end) {
        I fewest = static_cast<I>(places.begin + begin);
        for (I place = fewest; place < places.begin + end; ++place) fewest = fewer(fewest, place);
        return fewest;
      },
      fewer);
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

// Searches for most of the graph, in vain if it has no component as large as that. Returns the
// vertex that component 0 should be searched from: where this search began, if it may.
template <Index I>
I ComponentGraph<I>::first_start(BreadthFirst<I>& search) {
  const I rows = search.graph().rows;
  // The vertex with the fewest neighbours is a corner, or has none but a few at all.
  I start = fewest_neighbours<I>(search.graph(), {0, rows}, [](I vertex) { return vertex; });
  search.search({0, rows}, std::span(&start, 1), first_search);
  if (std::ssize(first_search.order) >= rows / 2) return start;
  start = rows / 2;
  search.search({0, rows}, std::span(&start, 1), first_search);
  const auto last = first_search.last();
  return last[fewest_neighbours<I>(search.graph(), {0, static_cast<I>(last.size())},
                                   [&](I i) { return last[i]; })];
}

template <Index I>
ComponentGraph<I>::ComponentGraph(const PatternView<I>& graph) : view(graph) {
  offsets.push_back(0);
  if (graph.rows == 0) return;
  const bool near = neighbours_are_near(graph);
  BreadthFirst<I> search(graph);
  I start = first_start(search);
  const auto found = static_cast<I>(first_search.order.size());
  const bool has_most = found >= graph.rows / 2;
  const bool is_first = has_most && first_search.order.front() == start;
  if (has_most) offsets.push_back(found);
  if (found == graph.rows) {
    far_vertices_.push_back(start);
    far_ = !near;
    if (!is_first) first_search = {};
    return;
  }

  // What was found first, in the order that it has or in that of the search; then all others.
  Array<unsigned char> is_found;
  if (has_most) {
    is_found.resize(graph.rows);
    parallel_for(graph.rows, [&](Offset vertex) { is_found[vertex] = 0; });
    parallel_for(found, [&](Offset i) { is_found[first_search.order[i]] = 1; });
  }
  const auto all = [&](bool of_first) {
    return selected(RowRange<I>{0, graph.rows}, [&](I vertex) {
      return is_found.empty() ? !of_first : (is_found[vertex] != 0) == of_first;
    });
  };
  const Components<I> others = search.components(all(false));
  originals_.resize(graph.rows);
  if (has_most) {
    const Array<I> in_order = near ? all(true) : Array<I>();
    const Array<I>& first = near ? in_order : first_search.order;
    parallel_for(found, [&](Offset i) { originals_[i] = first[i]; });
    // In the order of the search, the start is its first vertex, or one of its last level.
    const auto place =
        near       ? std::ranges::lower_bound(first, start)
        : is_first ? first.begin()
                   : std::find(first.end() - std::ssize(first_search.last()), first.end(), start);
    far_vertices_.push_back(static_cast<I>(place - first.begin()));
  }
  const I before = offsets.back();
  parallel_for(std::ssize(others.order),
               [&](Offset i) { originals_[before + i] = others.order[i]; });
  for (std::size_t c = 0; c < others.last_levels.size(); ++c) {
    const RowRange<I> last{others.last_levels[c], others.offsets[c + 1]};
    far_vertices_.push_back(
        before + fewest_neighbours<I>(graph, last, [&](I i) { return others.order[i]; }));
    offsets.push_back(before + others.offsets[c + 1]);
  }
  rename();
  if (!is_first) first_search = {};
}

template <Index I>
bool ComponentGraph<I>::bring_near(const Array<I>& order) {
  if (!far_) return false;
  far_ = false;
  originals_.resize(order.size());
  parallel_for(std::ssize(order), [&](Offset i) { originals_[i] = order[i]; });
  rename();
  far_vertices_.front() = 0;
  return true;
}

// The graph with vertex originals_[v] renamed to v, and all that knows vertices.
template <Index I>
void ComponentGraph<I>::rename() {
  const PatternView<I> graph = view;
  pattern_ = {graph.rows, graph.cols, Array<Offset>(static_cast<std::size_t>(graph.rows) + 1),
              Array<I>(graph.columns.size())};
  Array<I> names(graph.rows);
  pattern_.row_offsets[graph.rows] = 0;
  parallel_for(graph.rows, [&](Offset vertex) {
    names[originals_[vertex]] = static_cast<I>(vertex);
    pattern_.row_offsets[vertex] = graph.row_length(originals_[vertex]);
  });
  exclusive_scan(pattern_.row_offsets);
  parallel_dynamic(graph.rows, 4096, [&](Offset begin, Offset end) {
    Offset place = pattern_.row_offsets[begin];
    for (Offset vertex = begin; vertex < end; ++vertex) {
      prefetch_rows<I>(graph, originals_, vertex, end);
      for (const I neighbour : graph.columns_of(originals_[vertex])) {
        pattern_.columns[place++] = names[neighbour];
      }
    }
  });
  parallel_for(std::ssize(first_search.order),
               [&](Offset i) { first_search.order[i] = names[first_search.order[i]]; });
  view = pattern_.view();
}

#define STRATA_INSTANTIATE(I) template struct ComponentGraph<I>
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
