#include "strata/order/internal/patches.hpp"

#include <algorithm>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/order/internal/root_sets.hpp"

namespace strata::detail {

template <Index I>
void arrange_in_patches(const PatternView<I>& graph, RowRange<I> component, I size,
                        Layers<I>& levels) {
  enum State : unsigned char { open, next, placed };
  const Array<I> level_of = level_numbers(levels, component);
  Array<unsigned char> states(level_of.size(), open);
  for_each_level<I>(levels.offsets, [&](I l) {
    std::vector<I> arranged;
    std::vector<I> patch;  // the first of them are placed, the others are next
    for (const I start : levels.level(l)) {
      if (states[start - component.begin] == placed) continue;
      patch.assign(1, start);
      std::size_t count = 0;
      for (; count < patch.size() && count < static_cast<std::size_t>(size); ++count) {
        const I vertex = patch[count];
        states[vertex - component.begin] = placed;
        arranged.push_back(vertex);
        for (const I neighbour : graph.columns_of(vertex)) {
          // The states of other levels belong to other threads.
          if (level_of[neighbour - component.begin] != l) continue;
          unsigned char& state = states[neighbour - component.begin];
          if (state != open) continue;
          state = next;
          patch.push_back(neighbour);
        }
      }
      for (; count < patch.size(); ++count) states[patch[count] - component.begin] = open;
    }
    std::ranges::copy(arranged, levels.order.begin() + levels.offsets[l]);
  });
}

#define STRATA_INSTANTIATE(I) \
  template void arrange_in_patches(const PatternView<I>&, RowRange<I>, I, Layers<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
