#include "strata/order/internal/root_sets.hpp"

#include <algorithm>
#include <utility>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/order/internal/selected.hpp"

namespace strata::detail {

namespace {

// A bisector of at most so many times the mean level is that of something long, and there is no
// need to look for others.
constexpr double kNarrow = 1.5;

template <Index I>
I lowest_degree(const PatternView<I>& graph, std::span<const I> vertices) {
  return *std::ranges::min_element(
      vertices, {}, [&](I vertex) { return std::pair(graph.row_length(vertex), vertex); });
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

// Vertices of the far side that have few neighbours: its rims and creases.
template <Index I>
Array<I> rims(const PatternView<I>& graph, std::span<const I> side) {
  std::vector<I> degrees(side.size());
  std::ranges::transform(side, degrees.begin(), [&](I v) { return graph.row_length(v); });
  // Along a side of finite elements every second vertex has few.
  const auto usual = degrees.begin() + static_cast<std::ptrdiff_t>(degrees.size() * 2 / 5);
  std::ranges::nth_element(degrees, usual);
  Array<I> found;
  for (const I vertex : side) {
    if (graph.row_length(vertex) < *usual) found.push_back(vertex);
  }
  return found;
}

// In a box whose cells also touch at corners, what is farthest from the middle of a face is the
// opposite face. What is farthest from a corner is a face or, of a square or a cube, two or three
// sides; the middle of one of them is the vertex farthest from the rims and creases.
template <Index I>
RootSet<I> opposite_face(Scene<I>& scene) {
  const auto far = opposite_side(scene);
  if (far.empty()) return {};
  I middle = far.front();
  Layers<I> layers;
  if (const Array<I> roots = rims(scene.search.graph(), far); !roots.empty()) {
    scene.search.search(far, roots, layers);
    middle = layers.last().front();
  }
  scene.search.search(scene.component, std::span(&middle, 1), layers);
  return {"a face", Array<I>(layers.last().begin(), layers.last().end()), {}};
}

// The corners of a box whose cells touch at faces have the fewest neighbours. Distances between
// them are sums of its sides. Returns the corners as far from the first end of the component as its
// longest side is long; none if this is no box.
template <Index I>
Array<I> ends_of_longest_side(const Scene<I>& scene, const Array<I>& to_first) {
  constexpr std::size_t kMostCorners = 8;
  const PatternView<I>& graph = scene.search.graph();
  const I fewest = graph.row_length(scene.ends.from_first.order.front());
  Array<I> corners =
      selected(scene.component, [&](I vertex) { return graph.row_length(vertex) <= fewest; });
  if (corners.size() != 4 && corners.size() != kMostCorners) return {};
  const auto has_fewer = [&](I vertex) { return graph.row_length(vertex) < fewest; };
  if (std::ranges::any_of(corners, has_fewer)) return {};
  const auto distance = [&](I vertex) { return to_first[vertex - scene.component.begin]; };
  std::vector<I> distances(corners.size());
  std::ranges::transform(corners, distances.begin(), distance);
  std::ranges::sort(distances);
  // The sums of the sides so far, each of which is the distance of one corner.
  std::vector<I> sums{0};
  I longest = 0;
  while (sums.size() < corners.size()) {
    std::ranges::sort(sums);
    longest = *std::ranges::mismatch(sums, distances).in2;
    const std::vector<I> without = sums;
    for (const I sum : without) sums.push_back(sum + longest);
  }
  std::erase_if(corners, [&](I vertex) { return distance(vertex) != longest; });
  return corners;
}

// In a box whose cells touch at faces, these are the vertices from which the way to a corner leads
// through another one.
template <Index I>
RootSet<I> face_at_corner(Scene<I>& scene) {
  const RowRange<I> component = scene.component;
  const Array<I> to_first = level_numbers(scene.ends.from_first, component);
  RootSet<I> best{"a face at a corner", {}, {}};
  for (const I corner : ends_of_longest_side(scene, to_first)) {
    Layers<I> layers;
    scene.search.search(component, std::span(&corner, 1), layers);
    const Array<I> to_corner = level_numbers(layers, component);
    const I side = to_first[corner - component.begin];
    Array<I> face = selected(component, [&](I vertex) {
      const I i = vertex - component.begin;
      return to_corner[i] == to_first[i] + side;
    });
    if (face.size() > best.roots.size()) best.roots = std::move(face);
    // The corner may be as far as that because two shorter sides lead to it.
    const auto cells = static_cast<Offset>(best.roots.size()) * (side + 1);
    if (cells == component.end - component.begin) break;
  }
  return best;
}

// The vertices halfway between two vertices: in a mesh whose distances are nearly Euclidean, a
// plane. The component lies on both sides of it.
template <Index I>
RootSet<I> bisector(const std::string& name, const Scene<I>& scene, const Array<I>& to_one,
                    const Array<I>& to_other) {
  const RowRange<I> component = scene.component;
  RootSet<I> result{name, {}, {}};
  result.behind.resize(to_one.size());
  parallel_for(component.end - component.begin,
               [&](Offset i) { result.behind[i] = to_one[i] > to_other[i] ? 1 : 0; });
  const auto is_behind = [&](I vertex) { return result.behind[vertex - component.begin] != 0; };
  result.roots = selected(component, [&](I vertex) {
    // Distances of neighbours differ by one at most, so no others can have one behind.
    const I nearer = to_other[vertex - component.begin] - to_one[vertex - component.begin];
    return (nearer == 0 || nearer == 1) &&
           std::ranges::any_of(scene.search.graph().columns_of(vertex), is_behind);
  });
  return result;
}

// The ends of a cube are opposite corners, and between these lies a hexagon; a vertex far from both
// ends is near another corner or edge, from which the cube is cut nearly along its faces.
template <Index I>
Array<I> distances_from_third(const Scene<I>& scene, const Array<I>& to_first,
                              const Array<I>& to_second) {
  const auto nearer = [&](I i) { return std::min(to_first[i], to_second[i]); };
  const auto farther = [&](I one, I other) { return nearer(other) > nearer(one) ? other : one; };
  const I third = scene.component.begin + parallel_reduce(
                                              std::ssize(to_first), I{0},
                                              [&](Offset begin, Offset end) {
                                                I farthest = static_cast<I>(begin);
                                                for (I i = farthest; i < end; ++i) {
                                                  farthest = farther(farthest, i);
                                                }
                                                return farthest;
                                              },
                                              farther);
  Layers<I> layers;
  scene.search.search(scene.component, std::span(&third, 1), layers);
  return level_numbers(layers, scene.component);
}

}  // namespace

template <Index I>
void find_other_end(BreadthFirst<I>& search, RowRange<I> within, Ends<I>& ends) {
  while (true) {
    const I opposite = lowest_degree(search.graph(), ends.from_first.last());
    search.search(within, std::span(&opposite, 1), ends.from_second);
    if (ends.from_second.count() <= ends.from_first.count()) return;
    std::swap(ends.from_first, ends.from_second);
  }
}

template <Index I>
Ends<I> find_ends(BreadthFirst<I>& search, RowRange<I> within, I start) {
  Ends<I> ends;
  search.search(within, std::span(&start, 1), ends.from_first);
  find_other_end(search, within, ends);
  return ends;
}

template <Index I>
Array<I> level_numbers(const Layers<I>& layers, RowRange<I> component) {
  Array<I> numbers(component.end - component.begin);
  for_each_level<I>(layers.offsets, [&](I level) {
    for (const I vertex : layers.level(level)) numbers[vertex - component.begin] = level;
  });
  return numbers;
}

template <Index I>
const std::vector<SideFinder<I>>& side_finders() {
  static const std::vector<SideFinder<I>> finders = {opposite_face<I>, face_at_corner<I>};
  return finders;
}

template <Index I>
RootSet<I> narrowest_bisector(const Scene<I>& scene) {
  const Layers<I>& from_first = scene.ends.from_first;
  const Array<I> to_first = level_numbers(from_first, scene.component);
  const Array<I> to_second = level_numbers(scene.ends.from_second, scene.component);
  RootSet<I> best = bisector("between both ends", scene, to_first, to_second);
  const double mean_level =
      static_cast<double>(from_first.order.size()) / static_cast<double>(from_first.count());
  if (static_cast<double>(best.roots.size()) <= kNarrow * mean_level) return best;
  const Array<I> to_third = distances_from_third(scene, to_first, to_second);
  RootSet<I> first = bisector("between first end and a third vertex", scene, to_first, to_third);
  if (first.roots.size() < best.roots.size()) best = std::move(first);
  RootSet<I> second = bisector("between second end and a third vertex", scene, to_second, to_third);
  if (second.roots.size() < best.roots.size()) best = std::move(second);
  return best;
}

#define STRATA_INSTANTIATE(I)                                            \
  template void find_other_end(BreadthFirst<I>&, RowRange<I>, Ends<I>&); \
  template Ends<I> find_ends(BreadthFirst<I>&, RowRange<I>, I);          \
  template Array<I> level_numbers(const Layers<I>&, RowRange<I>);        \
  template const std::vector<SideFinder<I>>& side_finders<I>();          \
  template RootSet<I> narrowest_bisector(const Scene<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
