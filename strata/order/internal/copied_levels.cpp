#include "strata/order/internal/copied_levels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/order/internal/component_graph.hpp"
#include "strata/order/internal/root_sets.hpp"

namespace strata::detail {

namespace {

// Vertices that are looked at to see whether a graph is regular, and the share of them that has the
// most frequent number of neighbours. Finite elements of degree 2 have 0.5, random meshes 0.2.
constexpr Offset kDegreeSamples = 4096;
constexpr double kRegularShare = 0.4;
// Slices that are looked at, and how many distinct differences of row and column they may have for
// each entry of a row. A box has 1, or somewhat more at its borders and with several kinds of
// vertices; other parts of a lattice have more, but few beside the order of the search.
constexpr Offset kSlice = 32;
constexpr Offset kSlices = 256;
constexpr double kCopies = 1.6;
constexpr double kNearlyCopies = 0.6;
// After so many vertices the search is given up unless this share of them is as far behind the one
// before as that one was: one place, or half of one in a band.
constexpr Offset kTrialVertices = 8192;
constexpr double kStepShare = 0.25;
constexpr double kSameStep = 1e-6;
// Threads look for the keys of so many vertices at a time, at least.
constexpr Offset kFewestKeys = 256;
// If at least so many vertices of a level have no neighbours in the next one, and as many have, the
// former come first: they are lines of their own, inside of elements.
constexpr double kInnerShare = 0.25;

// Distinct differences of row and column per slice of consecutive vertices, over the mean number of
// entries of its rows.
template <Index I>
double differences_in(const PatternView<I>& graph, RowRange<I> component, const Layers<I>& levels) {
  const Array<I>& order = levels.order;
  Array<I> place(order.size());
  parallel_for(static_cast<Offset>(order.size()),
               [&](Offset i) { place[order[i] - component.begin] = static_cast<I>(i); });
  const Offset slices = ceil_div<Offset>(static_cast<Offset>(order.size()), kSlice);
  const Offset stride = std::max<Offset>(slices / kSlices, 1);
  double distinct = 0;
  double mean_entries = 0;
  std::vector<I> differences;
  for (Offset slice = 0; slice < slices; slice += stride) {
    differences.clear();
    const Offset begin = slice * kSlice;
    const Offset end = std::min<Offset>(begin + kSlice, static_cast<Offset>(order.size()));
    for (Offset i = begin; i < end; ++i) {
      for (const I neighbour : graph.columns_of(order[i])) {
        differences.push_back(static_cast<I>(place[neighbour - component.begin] - i));
      }
    }
    mean_entries += static_cast<double>(differences.size()) / static_cast<double>(end - begin);
    std::ranges::sort(differences);
    distinct += static_cast<double>(std::unique(differences.begin(), differences.end()) -
                                    differences.begin());
  }
  return distinct / std::max(mean_entries, 1.0);
}

// The subgraph of some vertices, numbered as they stand.
template <Index I>
Pattern<I> induced(const PatternView<I>& graph, RowRange<I> component,
                   std::span<const I> vertices) {
  constexpr I kOutside = -1;
  Array<I> names(static_cast<std::size_t>(component.end - component.begin), kOutside);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    names[vertices[i] - component.begin] = static_cast<I>(i);
  }
  const auto count = static_cast<I>(vertices.size());
  Pattern<I> result{count, count, Array<Offset>(1, 0), {}};
  for (const I vertex : vertices) {
    for (const I neighbour : graph.columns_of(vertex)) {
      const I name = names[neighbour - component.begin];
      if (name != kOutside) result.columns.push_back(name);
    }
    result.row_offsets.push_back(static_cast<Offset>(result.columns.size()));
  }
  return result;
}

template <Index I>
class LayOut {
 public:
  LayOut(const PatternView<I>& graph, RowRange<I> component, const Layers<I>& levels)
      : graph_(graph),
        component_(component),
        levels_(levels),
        level_of_(level_numbers(levels, component)),
        place_(level_of_.size()),
        key_place_(level_of_.size()),
        squares_within_(level_of_.size()) {
    result_.order.resize(levels.order.size());
    result_.offsets = levels.offsets;
  }

  // `first` is the order of the first level. False if it was given up.
  bool run(std::span<const I> first) {
    std::ranges::copy(first, result_.order.begin());
    find_keys(0);
    settle(0);
    for (I l = 1; l < levels_.count(); ++l) {
      find_keys(l);
      sort_level(l);
      settle(l);
      if (steps_ >= kTrialVertices &&
          static_cast<double>(same_steps_) < kStepShare * static_cast<double>(steps_)) {
        return false;
      }
    }
    return true;
  }

  double differences() const { return differences_in(graph_, component_, result_); }

  Layers<I>& result() { return result_; }

 private:
  struct Key {
    double place;  // that of its copy in the level before
    I vertex;
  };

  // Sets of vertices are told apart by the sum of their squares: if two agree by chance, one vertex
  // is out of place.
  static std::uint64_t square(I vertex) {
    return static_cast<std::uint64_t>(vertex) * static_cast<std::uint64_t>(vertex);
  }

  // Places count from the start of the level.
  void settle(I l) {
    const I begin = levels_.offsets[l];
    parallel_for(levels_.size(l), [&](Offset i) {
      place_[result_.order[begin + i] - component_.begin] = static_cast<I>(i);
    });
  }

  // Fills in the keys of a level, and which of its vertices have neighbours in the next one.
  void find_keys(I l) {
    const auto level = levels_.level(l);
    keys_.resize(level.size());
    has_next_.resize(level.size());
    const auto size = static_cast<Offset>(level.size());
    const Offset grain = std::max(ceil_div<Offset>(size, 4 * thread_count()), kFewestKeys);
    parallel_dynamic(size, grain, [&](Offset begin, Offset end) {
      std::vector<I> before;
      for (Offset i = begin; i < end; ++i) {
        const I vertex = level[i];
        prefetch_rows<I>(graph_, level, i, end);
        const auto neighbours = graph_.columns_of(vertex);
        before.resize(neighbours.size());
        std::size_t count = 0;
        std::uint64_t squares_within = 0;
        bool next = false;
        bool touches_itself = false;
        // Without branches, for nobody could predict them.
        for (const I neighbour : neighbours) {
          const I difference = level_of_[neighbour - component_.begin] - l;
          before[count] = neighbour;
          count += difference < 0 ? 1 : 0;
          squares_within += difference == 0 ? square(neighbour) : 0;
          next |= difference > 0;
          touches_itself |= neighbour == vertex;
        }
        before.resize(count);
        if (!touches_itself) squares_within += square(vertex);
        squares_within_[vertex - component_.begin] = squares_within;
        keys_[i] = {copied_place(before), vertex};
        key_place_[vertex - component_.begin] = keys_[i].place;
        has_next_[i] = next ? 1 : 0;
      }
    });
  }

  // The place of the one vertex that has for neighbours in its level, together with itself, these
  // vertices of the level; or else their mean place. The mean alone would not do at the borders of
  // a plane: it moves the first line by half a line, into the second.
  double copied_place(const std::vector<I>& before) const {
    std::uint64_t squares = 0;
    Offset sum = 0;
    for (const I vertex : before) {
      squares += square(vertex);
      sum += place_[vertex - component_.begin];
    }
    const auto matches = [&](I vertex) {
      return squares_within_[vertex - component_.begin] == squares;
    };
    const auto copied = std::ranges::find_if(before, matches);
    if (copied != before.end() && std::none_of(copied + 1, before.end(), matches)) {
      return static_cast<double>(place_[*copied - component_.begin]);
    }
    return static_cast<double>(sum) / static_cast<double>(std::max<std::size_t>(before.size(), 1));
  }

  void sort_level(I l) {
    const auto inner = static_cast<double>(std::ranges::count(has_next_, 0));
    const auto all = static_cast<double>(keys_.size());
    const bool split = std::min(inner, all - inner) >= kInnerShare * all;
    sorted_.resize(keys_.size());
    std::span<Key> rest(sorted_);
    if (split) {
      const auto keys_with = [&](bool next) {
        return [this, next](std::size_t i) { return (has_next_[i] != 0) == next; };
      };
      rest = rest.subspan(sort_keys(l, rest, keys_with(false)));
      sort_keys(l, rest, keys_with(true));
    } else {
      sort_keys(l, rest, [](std::size_t) { return true; });
    }
    std::ranges::transform(sorted_, result_.order.begin() + levels_.offsets[l], &Key::vertex);
  }

  // Writes those keys of the level for which chosen(i) holds, sorted: by a pass through the places
  // of the level before, for there are about as many. Returns their number.
  template <class Chosen>
  std::size_t sort_keys(I l, std::span<Key> to, const Chosen& chosen) {
    starts_.assign(static_cast<std::size_t>(levels_.size(l - 1)) + 1, 0);
    const auto bucket = [](const Key& key) { return static_cast<std::size_t>(key.place); };
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (chosen(i)) ++starts_[bucket(keys_[i]) + 1];
    }
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    const std::size_t count = starts_.back();
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (chosen(i)) to[starts_[bucket(keys_[i])]++] = keys_[i];
    }
    std::size_t begin = 0;
    for (const std::size_t end : starts_) {
      if (end > begin + 1) sort_bucket(l, to.subspan(begin, end - begin));
      begin = end;
    }
    count_steps(to.first(count));
    return count;
  }

  // Vertices at the same place, as there are at borders, go by their neighbours in the same level.
  void sort_bucket(I l, std::span<Key> keys) {
    std::ranges::sort(keys, [&](const Key& a, const Key& b) {
      if (a.place != b.place) return a.place < b.place;
      const auto rank = [&](I vertex) {
        return std::tuple(mean_in_level(vertex, l), graph_.row_length(vertex), vertex);
      };
      return rank(a.vertex) < rank(b.vertex);
    });
  }

  void count_steps(std::span<const Key> part) {
    const auto step = [&](std::size_t i) { return part[i].place - part[i - 1].place; };
    for (std::size_t i = 2; i < part.size(); ++i) {
      ++steps_;
      same_steps_ += std::abs(step(i) - step(i - 1)) < kSameStep ? 1 : 0;
    }
  }

  double mean_in_level(I vertex, I l) const {
    double sum = 0;
    double count = 0;
    for (const I neighbour : graph_.columns_of(vertex)) {
      if (neighbour == vertex || level_of_[neighbour - component_.begin] != l) continue;
      sum += key_place_[neighbour - component_.begin];
      count += 1;
    }
    return sum / std::max(count, 1.0);
  }

  PatternView<I> graph_;
  RowRange<I> component_;
  const Layers<I>& levels_;
  Array<I> level_of_;
  Array<I> place_;           // in its level
  Array<double> key_place_;  // what vertices are sorted by
  Array<std::uint64_t>
      squares_within_;  // of the neighbours in the same level and the vertex itself
  std::vector<Key> keys_;
  std::vector<Key> sorted_;
  std::vector<std::size_t> starts_;  // of places among the sorted keys
  std::vector<unsigned char> has_next_;
  Offset steps_ = 0;  // from one vertex to the next, and those that are like the one before
  Offset same_steps_ = 0;
  Layers<I> result_;
};

template <Index I>
Array<I> order_of_face(const PatternView<I>& graph);

// The order of the levels, the first one ordered as a face of its own.
template <Index I>
std::optional<LayOut<I>> laid_out(const PatternView<I>& graph, RowRange<I> component,
                                  const Layers<I>& levels) {
  const auto first = levels.level(0);
  Array<I> face(first.begin(), first.end());
  if (face.size() > 1) {
    const Pattern<I> subgraph = induced<I>(graph, component, first);
    Array<I> order = order_of_face(subgraph.view());
    std::ranges::transform(order, face.begin(), [&](I i) { return first[i]; });
  }
  std::optional<LayOut<I>> result(std::in_place, graph, component, levels);
  if (!result->run(face)) result.reset();
  return result;
}

// The best order of a component of a face, from the sides that it may have and from one end.
template <Index I>
Array<I> order_of_part(BreadthFirst<I>& search, RowRange<I> component, I start) {
  Scene<I> scene{search, component, find_ends(search, component, start)};
  Array<I> best = scene.ends.from_first.order;
  double fewest = std::numeric_limits<double>::infinity();
  const auto attempt = [&](const Layers<I>& levels) {
    auto candidate = laid_out(search.graph(), component, levels);
    if (!candidate) return;
    const double differences = candidate->differences();
    if (differences >= fewest) return;
    fewest = differences;
    best = std::move(candidate->result().order);
  };
  for (const auto& find_side : side_finders<I>()) {
    const RootSet<I> side = find_side(scene);
    // Sides that are most of what there is are none, and would not come to an end.
    const auto roots = static_cast<I>(side.roots.size());
    if (roots == 0 || roots > (component.end - component.begin) / 2) continue;
    Layers<I> levels;
    search.search(component, side.roots, levels);
    attempt(levels);
    if (fewest <= kCopies) return best;
  }
  attempt(scene.ends.from_first);
  return best;
}

template <Index I>
Array<I> order_of_face(const PatternView<I>& graph) {
  ComponentGraph<I> parts(graph);
  BreadthFirst<I> search(parts.view);
  Array<I> order;
  order.reserve(graph.rows);
  for (I part = 0; part < parts.count(); ++part) {
    const RowRange<I> range = parts.component(part);
    if (range.end - range.begin <= 2) {
      for (I vertex = range.begin; vertex < range.end; ++vertex) order.push_back(vertex);
      continue;
    }
    const Array<I> of_part = order_of_part(search, range, parts.far_vertex(part));
    order.insert(order.end(), of_part.begin(), of_part.end());
  }
  for (I& vertex : order) vertex = parts.originals[vertex];
  return order;
}

}  // namespace

template <Index I>
bool is_regular(const PatternView<I>& graph, RowRange<I> component) {
  const Offset stride = std::max<Offset>((component.end - component.begin) / kDegreeSamples, 1);
  std::vector<I> degrees;
  for (Offset vertex = component.begin; vertex < component.end; vertex += stride) {
    degrees.push_back(graph.row_length(static_cast<I>(vertex)));
  }
  std::ranges::sort(degrees);
  std::ptrdiff_t most = 0;
  for (auto first = degrees.begin(); first != degrees.end();) {
    const auto last = std::upper_bound(first, degrees.end(), *first);
    most = std::max(most, last - first);
    first = last;
  }
  return static_cast<double>(most) >= kRegularShare * static_cast<double>(degrees.size());
}

template <Index I>
std::optional<Layers<I>> lay_out_copies(const PatternView<I>& graph, RowRange<I> component,
                                        const Layers<I>& levels) {
  auto candidate = laid_out(graph, component, levels);
  if (!candidate) return std::nullopt;
  const double differences = candidate->differences();
  if (differences > kCopies &&
      differences > kNearlyCopies * differences_in(graph, component, levels)) {
    return std::nullopt;
  }
  return std::move(candidate->result());
}

#define STRATA_INSTANTIATE(I)                                                          \
  template bool is_regular(const PatternView<I>&, RowRange<I>);                        \
  template std::optional<Layers<I>> lay_out_copies(const PatternView<I>&, RowRange<I>, \
                                                   const Layers<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
