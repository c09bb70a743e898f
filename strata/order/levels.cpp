#include "strata/order/levels.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/order/internal/breadth_first.hpp"
#include "strata/order/internal/component_graph.hpp"
#include "strata/order/internal/copied_levels.hpp"
#include "strata/order/internal/nodes.hpp"
#include "strata/order/internal/patches.hpp"
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
// Levels that are copies of each other may have a window larger than others by this much: that of a
// cube whose cells touch at faces is 4/3 of that of its diagonal cuts.
constexpr double kCopiesWorthwhile = 1.5;
// Rows that lie together within a level: two slices. Fewer sectors of x are read than with one
// slice or with four.
constexpr Offset kPatchRows = 64;

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
  // `symmetrised` is that of the view of the nodes.
  LevelFinder(const PatternView<I>& pattern, const detail::Nodes<I>& nodes,
              const PatternView<I>& symmetrised, Offset window)
      : pattern_(pattern),
        window_(window),
        nodes_(nodes),
        graph_(symmetrised),
        search_(graph_.view),
        weights_(nodes.count()) {
    weigh();
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

    order_.resize(weights_.size());
    for (const I component : large) {
      if (weights[component] <= widest_ / window_) break;
      cut(component, std::exchange(weights[component], 0));
    }
    fill_levels(weights, std::max(smallest, widest_ / window_));
    Array<I> rows = rows_in_order();
    return {Permutation<I>(std::move(rows)), std::move(level_offsets_), graph_.count(),
            std::move(root_), copies_};
  }

 private:
  struct Trial {
    std::string name;
    Layers<I> layers;
    Offset window;
    bool copies = false;
  };

  void weigh() {
    parallel_for(nodes_.count(), [&](Offset vertex) {
      const I node = graph_.original(static_cast<I>(vertex));
      weights_[vertex] =
          nodes_.rows_of(node) * (Offset{pattern_.row_length(nodes_.first_row(node))} + 1);
    });
  }

  // The windows of levels that are found one after another.
  class RecentLevels {
   public:
    explicit RecentLevels(const LevelFinder& finder)
        : finder_(finder), weights_(static_cast<std::size_t>(finder.window_), 0) {}
    // The weight of the window that ends with this level.
    Offset add(std::span<const I> level) {
      const Offset newest = finder_.weight_by_threads(level);
      sum_ += newest - std::exchange(weights_[oldest_], newest);
      oldest_ = (oldest_ + 1) % weights_.size();
      widest_ = std::max(widest_, sum_);
      return sum_;
    }
    Offset widest() const { return widest_; }

   private:
    const LevelFinder& finder_;
    std::vector<Offset> weights_;
    std::size_t oldest_ = 0;
    Offset sum_ = 0;
    Offset widest_ = 0;
  };

  Offset weight(I vertex) const { return weights_[vertex]; }
  Offset weight(std::span<const I> level) const {
    Offset sum = 0;
    for (const I vertex : level) sum += weight(vertex);
    return sum;
  }
  // By all threads, if there is enough to do.
  Offset weight_by_threads(std::span<const I> level) const {
    return parallel_reduce(
        std::ssize(level), Offset{0},
        [&](Offset begin, Offset end) { return weight(level.subspan(begin, end - begin)); },
        std::plus<>());
  }

  std::vector<Offset> component_weights() const {
    std::vector<Offset> weights(graph_.count());
    const auto sum = [&](Offset begin, Offset end) {
      return std::reduce(weights_.begin() + begin, weights_.begin() + end);
    };
    if (graph_.count() == 1) {
      weights[0] = parallel_reduce(std::ssize(weights_), Offset{0}, sum, std::plus<>());
      return weights;
    }
    parallel_dynamic(graph_.count(), 4096, [&](Offset begin, Offset end) {
      for (I c = static_cast<I>(begin); c < end; ++c) {
        weights[c] = sum(graph_.offsets[c], graph_.offsets[c + 1]);
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
    Layers<I> first_search;
    if (component == 0) first_search = std::move(graph_.first_search);
    if (first_search.order.empty()) {
      const I start = graph_.far_vertex(component);
      search_.search(range, std::span(&start, 1), first_search);
    }
    Trial best = best_of(range, std::move(first_search), total);
    if (!best.copies) {
      detail::arrange_in_patches(graph_.view, range, vertices_of_patch(), best.layers);
    }
    if (root_.empty()) {
      root_ = best.name;
      copies_ = best.copies;
    }
    widest_ = std::max(widest_, best.window);
    const I start = placed_;
    parallel_for(std::ssize(best.layers.order),
                 [&](Offset i) { order_[start + i] = best.layers.order[i]; });
    placed_ += static_cast<I>(best.layers.order.size());
    for (I l = 0; l < best.layers.count(); ++l) {
      level_offsets_.push_back(start + best.layers.offsets[l + 1]);
    }
  }

  I vertices_of_patch() const {
    return static_cast<I>(std::max<Offset>(kPatchRows * nodes_.count() / nodes_.rows(), 1));
  }

  Trial best_of(RowRange<I> range, Layers<I> first_search, Offset total) {
    Scene<I> scene{search_, range, {std::move(first_search), {}}};
    if (detail::is_regular(graph_.view, range)) {
      if (auto copies = lattice_of(scene)) return std::move(*copies);
    }
    bring_near(scene);
    detail::find_other_end(search_, range, scene.ends);
    // Its levels stay where they are, for others may be better.
    Layers<I>& end = scene.ends.from_first;
    Trial best{"one end", {}, window_of(end)};
    const auto mean_window = static_cast<double>(total) * static_cast<double>(window_) /
                             static_cast<double>(end.count());
    const auto enough = std::max(static_cast<Offset>(kGoodEnough * mean_window), widest_);
    if (best.window > enough) improve(best, scene, detail::side_finders<I>().front()(scene));
    if (best.window > enough) improve(best, scene, detail::narrowest_bisector(scene));
    if (best.layers.order.empty()) best.layers = std::move(end);
    return best;
  }

  // For several searches to come.
  void bring_near(Scene<I>& scene) {
    Array<I>& order = scene.ends.from_first.order;
    if (!graph_.bring_near(order)) return;
    parallel_for(std::ssize(order), [&](Offset i) { order[i] = static_cast<I>(i); });
    search_.search_in(graph_.view);
    weigh();
  }

  // Levels that are copies of each other, from a face or an end; none if there are no such.
  std::optional<Trial> lattice_of(Scene<I>& scene) {
    const Layers<I>& end = scene.ends.from_first;
    const Offset window = window_of(end);
    const auto limit = static_cast<Offset>(kCopiesWorthwhile * static_cast<double>(window));
    if (is_face(end.last(), scene)) {
      const Array<I> face(end.last().begin(), end.last().end());
      if (auto trial = laid_out(scene, "a face", in_bfs_order(face), limit)) return trial;
    }
    for (const auto& find_side : detail::side_finders<I>()) {
      const RootSet<I> side = find_side(scene);
      if (side.roots.empty()) continue;
      if (auto trial = laid_out(scene, side.name, in_bfs_order(side.roots), limit)) return trial;
    }
    return laid_out(scene, "one end", end.level(0), window + 1);
  }

  // Whether what is farthest from a corner of a box is all of a face, that across the longest edge:
  // it has as many cells behind each of its own as there are levels. (Within a tenth would do for
  // more lattices, but graphene comes back with 6 % more bytes.)
  static bool is_face(std::span<const I> last, const Scene<I>& scene) {
    return last.size() > 1 && std::ssize(last) * scene.ends.from_first.count() ==
                                  Offset{scene.component.end - scene.component.begin};
  }

  // Replaces the best trial by the level structure of these roots if its window is smaller.
  void improve(Trial& best, const Scene<I>& scene, const RootSet<I>& set) {
    Trial trial = from_roots(scene, set, best.window);
    if (trial.window < best.window) best = std::move(trial);
  }

  // The levels of these roots, copies of each other, if they can be and their window is below the
  // limit.
  std::optional<Trial> laid_out(const Scene<I>& scene, const std::string& name,
                                std::span<const I> roots, Offset limit) {
    RecentLevels recent(*this);
    auto copies = detail::lay_out_copies<I>(
        search_, scene.component, roots,
        [&](std::span<const I> level) { return recent.add(level) < limit; });
    if (!copies) return std::nullopt;
    return Trial{name, std::move(*copies), recent.widest(), true};
  }

  // Neighbours close to each other: rows of later levels follow the order of their parents.
  Array<I> in_bfs_order(const Array<I>& roots) {
    Array<I> order = search_.components(roots).order;
    // The vertex found last is at one end of its component, and so the better one to begin with.
    std::ranges::reverse(order);
    return search_.components(order).order;
  }

  // The level structure of these roots; without levels if its window is not below the limit.
  Trial from_roots(const Scene<I>& scene, const RootSet<I>& set, Offset limit) {
    Trial none{set.name, {}, std::numeric_limits<Offset>::max()};
    if (set.roots.empty()) return none;
    // Distances count both sides of a cut; if they exceed the limit twice then one side does.
    const Offset both = limit * (set.behind.empty() ? 1 : 2);
    RecentLevels recent(*this);
    const auto below_limit = [&](std::span<const I> level) { return recent.add(level) < both; };
    Layers<I> layers;
    if (!search_.search(scene.component, in_bfs_order(set.roots), layers, below_limit)) return none;
    layers = unfolded(std::move(layers), scene.component, set.behind);
    const Offset window = window_of(layers);
    if (window >= limit) return none;
    return {set.name, std::move(layers), window};
  }

  // Appends the components whose weight is not zero, as many to a level as its capacity holds.
  void fill_levels(const std::vector<Offset>& weights, Offset capacity) {
    Offset filled = 0;
    for (I component = 0; component < graph_.count(); ++component) {
      if (weights[component] == 0) continue;
      if (filled > 0 && filled + weights[component] > capacity) {
        level_offsets_.push_back(placed_);
        filled = 0;
      }
      filled += weights[component];
      const RowRange<I> range = graph_.component(component);
      for (I vertex = range.begin; vertex < range.end; ++vertex) order_[placed_++] = vertex;
    }
    if (filled > 0) level_offsets_.push_back(placed_);
  }

  // Of nodes that are a row each.
  Array<I> rows_of_single_nodes() const {
    Array<I> rows(order_.size());
    parallel_for(static_cast<Offset>(order_.size()),
                 [&](Offset i) { rows[i] = nodes_.first_row(graph_.original(order_[i])); });
    return rows;
  }

  Array<Offset> rows_before_nodes() const {
    Array<Offset> before(order_.size() + 1);
    parallel_for(std::ssize(order_),
                 [&](Offset i) { before[i] = nodes_.rows_of(graph_.original(order_[i])); });
    before.back() = 0;
    exclusive_scan(before);
    return before;
  }

  // The rows of the nodes, in the order of these.
  Array<I> rows_in_order() {
    if (nodes_.count() == nodes_.rows()) return rows_of_single_nodes();
    const Array<Offset> before = rows_before_nodes();
    for (I& offset : level_offsets_) offset = static_cast<I>(before[offset]);
    Array<I> rows(before.back());
    parallel_for(static_cast<Offset>(order_.size()), [&](Offset i) {
      nodes_.write_rows(graph_.original(order_[i]), rows.data() + before[i]);
    });
    return rows;
  }

  PatternView<I> pattern_;
  Offset window_;
  const detail::Nodes<I>& nodes_;
  ComponentGraph<I> graph_;  // of nodes
  BreadthFirst<I> search_;
  Array<Offset> weights_;  // of the rows of each vertex, in the matrix and not in A + Aᵀ

  Array<I> order_;
  I placed_ = 0;  // vertices that have their place in the order
  Array<I> level_offsets_ = Array<I>(1, 0);
  Offset widest_ = 0;  // window of all levels so far
  std::string root_;
  bool copies_ = false;
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
void require_square(const PatternView<I>& pattern) {
  if (pattern.rows == pattern.cols) return;
  throw InvalidArgument(
      fmt::format("a {} x {} matrix has no levels, it is not square", pattern.rows, pattern.cols));
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
  require_square(pattern);
  const detail::Nodes<I> nodes(pattern);
  const SymmetrisedPattern<I> symmetrised(nodes.view());
  // There are no more levels than rows.
  const Offset window = std::min<Offset>(options.window, std::max<I>(pattern.rows, 1));
  return LevelFinder<I>(pattern, nodes, symmetrised.view(), window).find();
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
