#include "strata/order/rcm.hpp"

#include <algorithm>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/order/internal/breadth_first.hpp"
#include "strata/order/internal/component_graph.hpp"
#include "strata/order/internal/root_sets.hpp"
#include "strata/order/symmetrise.hpp"

namespace strata {

template <Index I>
Permutation<I> reverse_cuthill_mckee(const PatternView<I>& pattern) {
  const SymmetrisedPattern<I> symmetrised(pattern);
  detail::ComponentGraph<I> graph(symmetrised.view());
  graph.bring_near(Array<I>(graph.first_search.order));
  detail::BreadthFirst<I> search(graph.view, detail::Children::by_degree);
  Array<I> order(pattern.rows);
  parallel_for(pattern.rows, [&](Offset i) { order[i] = graph.original(static_cast<I>(i)); });
  for (I c = 0; c < graph.count(); ++c) {
    const RowRange<I> component = graph.component(c);
    if (component.end - component.begin <= 2) continue;  // any order is as good
    Array<I> bfs = detail::find_ends(search, component, graph.far_vertex(c)).from_first.order;
    parallel_for(component.end - component.begin, [&](Offset i) { bfs[i] = order[bfs[i]]; });
    std::copy(bfs.begin(), bfs.end(), order.begin() + component.begin);
  }
  std::ranges::reverse(order);
  return Permutation<I>(std::move(order));
}

template <Index I>
Offset bandwidth(const PatternView<I>& pattern) {
  return parallel_reduce(
      pattern.rows, Offset{0},
      [&](Offset begin, Offset end) {
        Offset widest = 0;
        for (Offset row = begin; row < end; ++row) {
          const auto columns = pattern.columns_of(static_cast<I>(row));
          if (columns.empty()) continue;
          widest = std::max({widest, row - columns.front(), columns.back() - row});
        }
        return widest;
      },
      [](Offset a, Offset b) { return std::max(a, b); });
}

#define STRATA_INSTANTIATE(I)                                           \
  template Permutation<I> reverse_cuthill_mckee(const PatternView<I>&); \
  template Offset bandwidth(const PatternView<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
