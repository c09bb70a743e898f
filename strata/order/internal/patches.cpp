#include "strata/order/internal/patches.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/order/internal/root_sets.hpp"

namespace strata::detail {

namespace {

// Vertices that are looked at, and how many neighbours they must have in their own level. The
// levels of a mesh in two dimensions are lines, which have no patches; there they have 2.
constexpr Offset kSamples = 4096;
constexpr double kFewestNeighbours = 3.5;

template <Index I>
double neighbours_in_level(const PatternView<I>& graph, RowRange<I> component,
                           const Array<I>& level_of) {
  const auto vertices = static_cast<Offset>(level_of.size());
  const Offset stride = std::max<Offset>(vertices / kSamples, 1);
  Offset neighbours = 0;
  Offset asked = 0;
  for (Offset i = 0; i < vertices; i += stride) {
    const I vertex = static_cast<I>(component.begin + i);
    neighbours += std::ranges::count_if(graph.columns_of(vertex), [&](I neighbour) {
      return neighbour != vertex && level_of[neighbour - component.begin] == level_of[i];
    });
    ++asked;
  }
  return static_cast<double>(neighbours) / static_cast<double>(std::max<Offset>(asked, 1));
}

}  // namespace

template <Index I>
void arrange_in_patches(const PatternView<I>& graph, RowRange<I> component, I size,
                        Layers<I>& levels) {
  Array<I> level_of = level_numbers(levels, component);
  if (neighbours_in_level(graph, component, level_of) < kFewestNeighbours) return;
  // From here on a vertex that is not open has no level: one look says whether a neighbour is in
  // this level and open. Vertices of other levels belong to other threads.
  constexpr I kPlaced = -1;
  constexpr I kNext = -2;
  const auto state_of = [&](I vertex) {
    return std::atomic_ref(level_of[vertex - component.begin]);
  };
  for_each_level<I>(levels.offsets, [&](I l) {
    std::vector<I> arranged;
    std::vector<I> patch;  // the first of them are placed, the others are next
    const auto level = levels.level(l);
    arranged.reserve(level.size());
    for (std::size_t i = 0; i < level.size(); ++i) {
      const I start = level[i];
      prefetch_rows<I>(graph, level, static_cast<Offset>(i), static_cast<Offset>(level.size()));
      if (state_of(start).load(std::memory_order_relaxed) == kPlaced) continue;
      patch.assign(1, start);
      std::size_t count = 0;
      for (; count < patch.size() && count < static_cast<std::size_t>(size); ++count) {
        const I vertex = patch[count];
        state_of(vertex).store(kPlaced, std::memory_order_relaxed);
        arranged.push_back(vertex);
        for (const I neighbour : graph.columns_of(vertex)) {
          const auto state = state_of(neighbour);
          if (state.load(std::memory_order_relaxed) != l) continue;
          state.store(kNext, std::memory_order_relaxed);
          patch.push_back(neighbour);
        }
      }
      for (; count < patch.size(); ++count) {
        state_of(patch[count]).store(l, std::memory_order_relaxed);
      }
    }
    std::ranges::copy(arranged, levels.order.begin() + levels.offsets[l]);
  });
}

#define STRATA_INSTANTIATE(I) \
  template void arrange_in_patches(const PatternView<I>&, RowRange<I>, I, Layers<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
