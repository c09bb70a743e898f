#include "strata/order/internal/root_sets.hpp"

#include <algorithm>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata::detail {

namespace {

template <Index I>
I lowest_degree(const PatternView<I>& graph, std::span<const I> vertices) {
  return *std::ranges::min_element(
      vertices, {}, [&](I vertex) { return std::pair(graph.row_length(vertex), vertex); });
}

// The level of each vertex of the component.
template <Index I>
Array<I> level_numbers(const Layers<I>& layers, RowRange<I> component) {
  Array<I> numbers(component.end - component.begin);
  for_each_level<I>(layers.offsets, [&](I level) {
    for (const I vertex : layers.level(level)) numbers[vertex - component.begin] = level;
  });
  return numbers;
}

// The vertices of the component for which `chosen(vertex)` holds, in increasing order.
template <Index I, class Chosen>
Array<I> select(RowRange<I> component, const Chosen& chosen) {
  constexpr Offset kPiece = 4096;
  const Offset count = component.end - component.begin;
  std::vector<std::vector<I>> pieces(ceil_div(count, kPiece));
  parallel_dynamic(count, kPiece, [&](Offset begin, Offset end) {
    for (I vertex = static_cast<I>(component.begin + begin); vertex < component.begin + end;
         ++vertex) {
      if (chosen(vertex)) pieces[begin / kPiece].push_back(vertex);
    }
  });
  Array<I> result;
  for (const auto& piece : pieces) result.insert(result.end(), piece.begin(), piece.end());
  return result;
}

// What is opposite to the first end, provided that it is a side and not just another tip, as that
// of a mesh is: with a quarter of the mean level or more.
template <Index I>
std::span<const I> opposite_side(const Scene<I>& scene) {
  const Layers<I>& layers = scene.ends.from_first;
  const auto last = layers.last();
  const auto mean = layers.order.size() / static_cast<std::size_t>(layers.count());
  return last.size() >= std::max<std::size_t>(mean / 4, 2) ? last : std::span<const I>();
}

// In a box that is longer than wide this is a face.
template <Index I>
RootSet<I> far_side(Scene<I>& scene) {
  const auto far = opposite_side(scene);
  return {Array<I>(far.begin(), far.end()), {}};
}

// The side opposite to the far side.
template <Index I>
RootSet<I> near_side(Scene<I>& scene) {
  const auto far = opposite_side(scene);
  if (far.empty()) return {};
  Layers<I> layers;
  scene.search.search(scene.component, far, layers);
  return {Array<I>(layers.last().begin(), layers.last().end()), {}};
}

// What is opposite to the corner of a square or a cube whose cells also touch at corners is two
// sides or three faces. A breadth-first search through them from one end visits one at a time.
template <Index I, int parts>
RootSet<I> part_of_far_side(Scene<I>& scene) {
  const auto far = opposite_side(scene);
  if (far.empty()) return {};
  const Layers<I> bfs = find_ends(scene.search, far, far.front()).from_first;
  const auto share = static_cast<I>(bfs.order.size() / parts);
  const auto end = *std::ranges::lower_bound(bfs.offsets, std::max<I>(share, 1));
  return {Array<I>(bfs.order.begin(), bfs.order.begin() + end), {}};
}

// The vertices halfway between two vertices: in a mesh whose distances are nearly Euclidean, a
// plane. The component lies on both sides of it.
template <Index I>
RootSet<I> bisector(Scene<I>& scene, const Layers<I>& from_one, const Layers<I>& from_other) {
  const RowRange<I> component = scene.component;
  const Array<I> to_one = level_numbers(from_one, component);
  const Array<I> to_other = level_numbers(from_other, component);
  RootSet<I> result;
  result.behind.resize(to_one.size());
  parallel_for(component.end - component.begin,
               [&](Offset i) { result.behind[i] = to_one[i] > to_other[i] ? 1 : 0; });
  const auto is_behind = [&](I vertex) { return result.behind[vertex - component.begin] != 0; };
  result.roots = select(component, [&](I vertex) {
    return !is_behind(vertex) &&
           std::ranges::any_of(scene.search.graph().columns_of(vertex), is_behind);
  });
  return result;
}

template <Index I>
RootSet<I> between_ends(Scene<I>& scene) {
  return bisector(scene, scene.ends.from_first, scene.ends.from_second);
}

// The ends of a cube are opposite corners, and between these lies a hexagon; a vertex far from both
// ends is near another corner or edge, from which the cube is cut nearly along its faces.
template <Index I>
const Layers<I>& from_third(Scene<I>& scene) {
  if (!scene.from_third.order.empty()) return scene.from_third;
  const RowRange<I> component = scene.component;
  const Array<I> to_first = level_numbers(scene.ends.from_first, component);
  const Array<I> to_second = level_numbers(scene.ends.from_second, component);
  I third = 0;
  for (I i = 1; i < component.end - component.begin; ++i) {
    if (std::min(to_first[i], to_second[i]) > std::min(to_first[third], to_second[third])) {
      third = i;
    }
  }
  third += component.begin;
  scene.search.search(component, std::span(&third, 1), scene.from_third);
  return scene.from_third;
}

template <Index I>
RootSet<I> between_first_and_third(Scene<I>& scene) {
  return bisector(scene, scene.ends.from_first, from_third(scene));
}

template <Index I>
RootSet<I> between_second_and_third(Scene<I>& scene) {
  return bisector(scene, scene.ends.from_second, from_third(scene));
}

}  // namespace

template <Index I, class Vertices>
Ends<I> find_ends(BreadthFirst<I>& search, const Vertices& within, I start) {
  Ends<I> ends;
  search.search(within, std::span(&start, 1), ends.from_first);
  while (true) {
    const I opposite = lowest_degree(search.graph(), ends.from_first.last());
    search.search(within, std::span(&opposite, 1), ends.from_second);
    if (ends.from_second.count() <= ends.from_first.count()) return ends;
    std::swap(ends.from_first, ends.from_second);
  }
}

template <Index I>
const std::vector<RootSetCandidate<I>>& root_set_candidates() {
  static const std::vector<RootSetCandidate<I>> candidates = {
      {"far side", far_side<I>},
      {"third of the far side", part_of_far_side<I, 3>},
      {"half of the far side", part_of_far_side<I, 2>},
      {"near side", near_side<I>},
      {"between both ends", between_ends<I>},
      {"between first end and a third vertex", between_first_and_third<I>},
      {"between second end and a third vertex", between_second_and_third<I>},
  };
  return candidates;
}

#define STRATA_INSTANTIATE(I)                                                 \
  template Ends<I> find_ends(BreadthFirst<I>&, const RowRange<I>&, I);        \
  template Ends<I> find_ends(BreadthFirst<I>&, const std::span<const I>&, I); \
  template const std::vector<RootSetCandidate<I>>& root_set_candidates<I>()
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
