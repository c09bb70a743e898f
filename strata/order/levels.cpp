#include "strata/order/levels.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/order/internal/breadth_first.hpp"
#include "strata/order/internal/component_graph.hpp"
#include "strata/order/internal/root_sets.hpp"
#include "strata/order/symmetrise.hpp"

namespace strata {

namespace {

using detail::BreadthFirst;
using detail::ComponentGraph;
using detail::for_each_level;
using detail::Layers;
using detail::RootSet;
using detail::Scene;

// No level structure has more levels than the longest path between two rows has vertices, so none
// can beat the mean window of that many levels. This close to it the search for a better one ends.
constexpr double kGoodEnough = 1.1;

// The heaviest `window` consecutive levels of the weights.
Offset heaviest_window(std::span<const Offset> weights, Offset window) {
  Offset sum = 0;
  Offset heaviest = 0;
  for (std::size_t level = 0; level < weights.size(); ++level) {
    sum += weights[level];
    if (static_cast<Offset>(level) >= window) sum -= weights[level - window];
    heaviest = std::max(heaviest, sum);
  }
  return heaviest;
}

// The levels of signed distances, in increasing order, from those of plain distances and the flags
// of the vertices whose distance is negative.
template <Index I>
Layers<I> unfolded(Layers<I> layers, RowRange<I> component, const Array<unsigned char>& behind) {
  if (behind.empty()) return layers;
  const auto is_behind = [&](I vertex) { return behind[vertex - component.begin] != 0; };
  Array<I> sizes_behind(layers.count());
  for_each_level<I>(layers.offsets, [&](I l) {
    sizes_behind[l] = static_cast<I>(std::ranges::count_if(layers.level(l), is_behind));
  });
  // Distance −l becomes level deepest − l. The levels of either side are without gaps.
  I deepest = layers.count() - 1;
  while (deepest > 0 && sizes_behind[deepest] == 0) --deepest;
  Layers<I> result;
  result.order.resize(layers.order.size());
  for (I l = deepest; l > 0; --l) {
    result.offsets.push_back(result.offsets.back() + sizes_behind[l]);
  }
  for (I l = 0; l < layers.count() && layers.size(l) > sizes_behind[l]; ++l) {
    result.offsets.push_back(result.offsets.back() + layers.size(l) - sizes_behind[l]);
  }
  for_each_level<I>(layers.offsets, [&](I l) {
    const auto begin_of = [&](I level, I size) {
      return size == 0 ? nullptr : result.order.data() + result.offsets[level];
    };
    I* negative = begin_of(deepest - l, sizes_behind[l]);
    I* positive = begin_of(deepest + l, layers.size(l) - sizes_behind[l]);
    for (const I vertex : layers.level(l)) *(is_behind(vertex) ? negative++ : positive++) = vertex;
  });
  return result;
}

template <Index I>
class LevelFinder {
 public:
  LevelFinder(const PatternView<I>& pattern, const PatternView<I>& symmetrised, Offset window)
      : window_(window), graph_(symmetrised), search_(graph_.view), entries_(pattern.rows) {
    parallel_for(pattern.rows, [&](Offset vertex) {
      entries_[vertex] = pattern.row_length(graph_.originals[vertex]);
    });
  }

  LevelStructure<I> find() {
    std::vector<Offset> weights = component_weights();
    const Offset total = std::accumulate(weights.begin(), weights.end(), Offset{0});
    // Without large components there is no width to go by; √n is that of a square grid.
    const auto smallest = static_cast<Offset>(std::sqrt(static_cast<double>(total)));
    std::vector<I> large;
    for (I component = 0; component < graph_.count(); ++component) {
      if (weights[component] > smallest) large.push_back(component);
    }
    std::ranges::sort(large, [&](I a, I b) {
      return weights[a] != weights[b] ? weights[a] > weights[b] : a < b;
    });

    order_.reserve(entries_.size());
    for (const I component : large) {
      if (weights[component] <= widest_ / window_) break;
      cut(component, std::exchange(weights[component], 0));
    }
    fill_levels(weights, std::max(smallest, widest_ / window_));

    parallel_for(static_cast<Offset>(order_.size()),
                 [&](Offset i) { order_[i] = graph_.originals[order_[i]]; });
    return {Permutation<I>(std::move(order_)), std::move(level_offsets_), graph_.count(),
            std::move(root_)};
  }

 private:
  struct Trial {
    std::string name;
    Layers<I> layers;
    Offset window;
  };

  Offset weight(I vertex) const { return Offset{entries_[vertex]} + 1; }
  Offset weight(std::span<const I> level) const {
    Offset sum = 0;
    for (const I vertex : level) sum += weight(vertex);
    return sum;
  }

  std::vector<Offset> component_weights() const {
    std::vector<Offset> weights(graph_.count());
    parallel_dynamic(graph_.count(), 4096, [&](Offset begin, Offset end) {
      for (I c = static_cast<I>(begin); c < end; ++c) {
        weights[c] = 0;
        for (I v = graph_.offsets[c]; v < graph_.offsets[c + 1]; ++v) weights[c] += weight(v);
      }
    });
    return weights;
  }

  Offset window_of(const Layers<I>& layers) const {
    std::vector<Offset> weights(layers.count());
    for_each_level<I>(layers.offsets, [&](I l) { weights[l] = weight(layers.level(l)); });
    return heaviest_window(weights, window_);
  }

  // Appends the levels of a component, from the best of the root sets.
  void cut(I component, Offset total) {
    const RowRange<I> range = graph_.component(component);
    Scene<I> scene{search_, range, detail::find_ends(search_, range, range.end - 1)};
    Trial best{"one end", scene.ends.from_first, window_of(scene.ends.from_first)};
    const auto mean_window = static_cast<double>(total) * static_cast<double>(window_) /
                             static_cast<double>(best.layers.count());
    const auto enough = static_cast<Offset>(kGoodEnough * mean_window);
    for (const auto& candidate : detail::root_set_candidates<I>()) {
      if (best.window <= std::max(enough, widest_)) break;
      improve(best, candidate.name, range, candidate.find(scene));
    }
    if (root_.empty()) root_ = best.name;
    widest_ = std::max(widest_, best.window);
    const I start = static_cast<I>(order_.size());
    order_.insert(order_.end(), best.layers.order.begin(), best.layers.order.end());
    for (I l = 0; l < best.layers.count(); ++l) {
      level_offsets_.push_back(start + best.layers.offsets[l + 1]);
    }
  }

  // Neighbours close to each other: rows of later levels follow the order of their parents.
  Array<I> in_bfs_order(const Array<I>& roots) {
    Array<I> order = search_.components(roots).order;
    // The vertex found last is at one end of its component, and so the better one to begin with.
    std::ranges::reverse(order);
    return search_.components(order).order;
  }

  // Replaces the best trial by the level structure of these roots if its window is smaller.
  void improve(Trial& best, const std::string& name, RowRange<I> range, const RootSet<I>& set) {
    if (set.roots.empty()) return;
    // Distances count both sides of a cut; if they exceed the limit twice then one side does.
    const Offset limit = best.window * (set.behind.empty() ? 1 : 2);
    std::vector<Offset> recent(static_cast<std::size_t>(window_), 0);
    Offset sum = 0;
    std::size_t oldest = 0;
    const auto still_better = [&](std::span<const I> level) {
      const Offset newest = weight(level);
      sum += newest - std::exchange(recent[oldest], newest);
      oldest = (oldest + 1) % recent.size();
      return sum < limit;
    };
    Layers<I> layers;
    if (!search_.search(range, in_bfs_order(set.roots), layers, still_better)) return;
    layers = unfolded(std::move(layers), range, set.behind);
    const Offset window = window_of(layers);
    if (window < best.window) best = {name, std::move(layers), window};
  }

  // Appends the components whose weight is not zero, as many to a level as its capacity holds.
  void fill_levels(const std::vector<Offset>& weights, Offset capacity) {
    Offset filled = 0;
    for (I component = 0; component < graph_.count(); ++component) {
      if (weights[component] == 0) continue;
      if (filled > 0 && filled + weights[component] > capacity) {
        level_offsets_.push_back(static_cast<I>(order_.size()));
        filled = 0;
      }
      filled += weights[component];
      const RowRange<I> range = graph_.component(component);
      for (I vertex = range.begin; vertex < range.end; ++vertex) order_.push_back(vertex);
    }
    if (filled > 0) level_offsets_.push_back(static_cast<I>(order_.size()));
  }

  Offset window_;
  ComponentGraph<I> graph_;
  BreadthFirst<I> search_;
  Array<I> entries_;  // of each vertex in the matrix, not in A + Aᵀ

  Array<I> order_;
  Array<I> level_offsets_ = Array<I>(1, 0);
  Offset widest_ = 0;  // window of all levels so far
  std::string root_;
};

template <Index I>
Array<I> level_numbers(const LevelStructure<I>& structure) {
  Array<I> numbers(structure.order.size());
  for_each_level<I>(structure.level_offsets, [&](I level) {
    for (I i = structure.level_offsets[level]; i < structure.level_offsets[level + 1]; ++i) {
      numbers[structure.order.old_of(i)] = level;
    }
  });
  return numbers;
}

void require_window(Offset window) {
  if (window < 1) {
    throw InvalidArgument(fmt::format("a window of {} levels holds no level", window));
  }
}

template <Index I>
void require_layout(const PatternView<I>& pattern, const LevelStructure<I>& structure) {
  const auto& offsets = structure.level_offsets;
  if (pattern.rows != pattern.cols || structure.order.size() != pattern.rows) {
    throw InvalidArgument(fmt::format("levels of {} rows do not fit a {} x {} matrix",
                                      structure.order.size(), pattern.rows, pattern.cols));
  }
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != pattern.rows ||
      std::ranges::adjacent_find(offsets, std::ranges::greater_equal{}) != offsets.end()) {
    throw InvalidArgument(fmt::format("level offsets do not increase from 0 to {}", pattern.rows));
  }
}

}  // namespace

template <Index I>
LevelStructure<I> find_levels(const PatternView<I>& pattern, const LevelOptions& options) {
  require_window(options.window);
  const SymmetrisedPattern<I> symmetrised(pattern);
  // There are no more levels than rows.
  const Offset window = std::min<Offset>(options.window, std::max<I>(pattern.rows, 1));
  return LevelFinder<I>(pattern, symmetrised.view(), window).find();
}

template <Index I>
Offset widest_window(const PatternView<I>& pattern, const LevelStructure<I>& structure,
                     Offset window) {
  require_window(window);
  require_layout(pattern, structure);
  std::vector<Offset> weights(structure.levels());
  for_each_level<I>(structure.level_offsets, [&](I level) {
    weights[level] = structure.rows_of(level);
    for (I i = structure.level_offsets[level]; i < structure.level_offsets[level + 1]; ++i) {
      weights[level] += pattern.row_length(structure.order.old_of(i));
    }
  });
  return heaviest_window(weights, window);
}

template <Index I>
void require_levels(const PatternView<I>& pattern, const LevelStructure<I>& structure) {
  require_layout(pattern, structure);
  const Array<I> levels = level_numbers(structure);
  parallel_for(pattern.rows, [&](Offset row) {
    for (const I column : pattern.columns_of(static_cast<I>(row))) {
      const I difference = levels[row] - levels[column];
      if (difference < -1 || difference > 1) {
        throw InvalidArgument(fmt::format("row {} of level {} touches row {} of level {}", row,
                                          levels[row], column, levels[column]));
      }
    }
  });
}

#define STRATA_INSTANTIATE(I)                                                             \
  template LevelStructure<I> find_levels(const PatternView<I>&, const LevelOptions&);     \
  template Offset widest_window(const PatternView<I>&, const LevelStructure<I>&, Offset); \
  template void require_levels(const PatternView<I>&, const LevelStructure<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
