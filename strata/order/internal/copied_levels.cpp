#include "strata/order/internal/copied_levels.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/order/internal/component_graph.hpp"
#include "strata/order/internal/differences.hpp"
#include "strata/order/internal/root_sets.hpp"

namespace strata::detail {

namespace {

// Vertices that are looked at to see whether a graph is regular, and the share of them that has the
// most frequent number of neighbours. Finite elements of degree 2 have 0.5, random meshes 0.2.
constexpr Offset kDegreeSamples = 4096;
constexpr double kRegularShare = 0.4;
// How many differences of row and column there may be for each entry of a row. A box has 1, or
// somewhat more at its borders and with several kinds of vertices; other parts of a lattice have
// more, but few beside the order of the search.
constexpr double kCopies = 1.6;
constexpr double kNearlyCopies = 0.6;
// After so many vertices the search is given up unless this share of them is as far behind the one
// before as that one was: one place, or half of one in a band.
constexpr Offset kTrialVertices = 8192;
constexpr double kStepShare = 0.25;
constexpr double kSameStep = 1e-6;
// Threads look for the keys of so many vertices at a time, at least.
constexpr Offset kFewestKeys = 256;
// What there is of the neighbours of a vertex is fetched so many vertices ahead.
constexpr Offset kStatesAhead = 2;
// If at least so many vertices of a level have no neighbours in the next one, and as many have, the
// former come first: they are lines of their own, inside of elements.
constexpr double kInnerShare = 0.25;

template <Index I>
Array<I> order_of_face(const PatternView<I>& graph);

// The levels from some roots, in the order of a lattice. Each is searched for from the one before,
// and its vertices get their places, in one look at its rows.
template <Index I>
class LayOut {
 public:
  LayOut(const PatternView<I>& graph, RowRange<I> component)
      : graph_(graph), component_(component), at_(component.end - component.begin) {
    parallel_for(std::ssize(at_), [&](Offset i) { at_[i] = kOpen; });
    result_.order.resize(at_.size());
  }

  // False if it was given up, by what is asked after every level or because its vertices do not lie
  // like those of a lattice.
  bool run(std::span<const I> roots, const typename BreadthFirst<I>::GoOn& go_on) {
    level_.assign(roots.begin(), roots.end());
    if (level_.size() > 1) arrange_face();
    for (const I vertex : level_) at(vertex) = pending(0);
    for (l_ = 0; !level_.empty(); ++l_) {
      if (go_on && !go_on(level_)) return false;
      find_keys();
      if (!settle_copy()) settle_sorted();
      next_.resize(found_);
      result_.offsets.push_back(end());
      std::swap(level_, next_);
      if (steps_ >= kTrialVertices &&
          static_cast<double>(same_steps_) < kStepShare * static_cast<double>(steps_)) {
        return false;
      }
    }
    return result_.offsets.back() == std::ssize(at_);
  }

  double differences() const { return differences_in(graph_, component_, result_.order, at_); }

  Layers<I>& result() { return result_; }

 private:
  struct Key {
    double place;  // that of its copy in the level before
    I i;           // of the vertex, as the level was found
  };
  // Consecutive vertices of a level as it was found, which one thread looks at.
  struct Piece {
    std::vector<I> found;  // vertices of the next level, some of which others have found as well
    Offset inner = 0;      // vertices without neighbours in the next level
    bool whole = true;     // all places are whole numbers
  };

  // Values of at_: a vertex that was not found yet, one of level l that has no place yet, and those
  // that are found while another level is looked at. Each piece writes a number of its own, and
  // what is there in the end says whose they are: an exchange for each would make all that is read
  // after it wait.
  static constexpr I kOpen = -1;
  static constexpr I pending(I l) { return static_cast<I>(-2 - l % 2); }
  static constexpr I found_by(Offset piece) { return static_cast<I>(-4 - piece); }

  I& at(I vertex) { return at_[vertex - component_.begin]; }
  I at(I vertex) const { return at_[vertex - component_.begin]; }

  // Sets of vertices are told apart by the sum of their squares: if two agree by chance, one vertex
  // is out of place.
  using Squares = std::uint64_t;
  static Squares square(I vertex) {
    const auto number = static_cast<std::make_unsigned_t<I>>(vertex);
    return static_cast<Squares>(number) * number;
  }

  Offset size() const { return std::ssize(level_); }
  I begin() const { return result_.offsets.back(); }
  I end() const { return static_cast<I>(begin() + size()); }
  // Of the level before.
  I size_before() const {
    return result_.offsets.size() < 2 ? 0 : begin() - result_.offsets[result_.offsets.size() - 2];
  }

  // The roots in the order of a lattice of one dimension less. Their numbers are their places in
  // at_ meanwhile.
  void arrange_face() {
    for (std::size_t i = 0; i < level_.size(); ++i) at(level_[i]) = static_cast<I>(i);
    const auto count = static_cast<I>(level_.size());
    Pattern<I> face{count, count, Array<Offset>(1, 0), {}};
    for (const I vertex : level_) {
      for (const I neighbour : graph_.columns_of(vertex)) {
        if (at(neighbour) != kOpen) face.columns.push_back(at(neighbour));
      }
      face.row_offsets.push_back(static_cast<Offset>(face.columns.size()));
    }
    const Array<I> order = order_of_face(face.view());
    next_.resize(level_.size());
    std::ranges::transform(order, next_.begin(), [&](I i) { return level_[i]; });
    std::swap(level_, next_);
  }

  // Fills in the keys of a level, and finds the next one.
  void find_keys() {
    places_.resize(level_.size());
    squares_.resize(level_.size());
    has_next_.resize(level_.size());
    slots_.resize(level_.size());
    grain_ = std::max(ceil_div<Offset>(size(), 4 * thread_count()), kFewestKeys);
    const Offset pieces = ceil_div(size(), grain_);
    if (std::ssize(pieces_) < pieces) pieces_.resize(pieces);
    parallel_dynamic(pieces, 1, [&](Offset number, Offset) {
      // Here while it changes: pieces of several threads share a cache line.
      Piece piece = std::move(pieces_[number]);
      find_keys_of(number, piece);
      pieces_[number] = std::move(piece);
    });
    Offset found = 0;
    for (Offset number = 0; number < pieces; ++number) found += std::ssize(pieces_[number].found);
    next_.resize(found);
    found_ = 0;
  }

  Chunk vertices_of(Offset piece) const {
    return {piece * grain_, std::min((piece + 1) * grain_, size())};
  }

  void find_keys_of(Offset number, Piece& piece) {
    const I here = pending(l_);
    const I mine = found_by(number);
    const I before_begin = begin() - size_before();
    const auto before_count = static_cast<std::make_unsigned_t<I>>(size_before());
    const bool copies = Offset{size_before()} == size();
    const Chunk chunk = vertices_of(number);
    piece.found.clear();
    piece.inner = 0;
    piece.whole = true;
    std::vector<I> seen;  // what there is of the neighbours, and then places in the level before
    for (Offset i = chunk.begin; i < chunk.end; ++i) {
      const I vertex = level_[i];
      prefetch_rows<I>(graph_, level_, i, chunk.end);
      if (i + kStatesAhead < chunk.end) {
        for (const I neighbour : graph_.columns_of(level_[i + kStatesAhead])) {
          __builtin_prefetch(&at(neighbour));
        }
      }
      const auto neighbours = graph_.columns_of(vertex);
      const std::size_t degree = neighbours.size();
      if (seen.size() < degree) seen.resize(degree);
      for (std::size_t k = 0; k < degree; ++k) {
        const std::atomic_ref state(at(neighbours[k]));
        seen[k] = state.load(std::memory_order_relaxed);
        if (seen[k] == kOpen) {
          state.store(mine, std::memory_order_relaxed);
          piece.found.push_back(neighbours[k]);
        }
      }
      const Around around = look_around(neighbours, seen.data(), here, vertex);
      std::size_t count = 0;
      for (std::size_t k = 0; k < degree; ++k) {
        const I place = seen[k] - before_begin;
        seen[count] = place;
        count += static_cast<std::make_unsigned_t<I>>(place) < before_count ? 1 : 0;
      }
      const std::span<const I> before = std::span(seen).first(count);
      squares_[i] = around.squares_within;
      const double place = copied_place(before, around.squares_before);
      places_[i] = place;
      has_next_[i] = around.has_next ? 1 : 0;
      piece.inner += around.has_next ? 0 : 1;
      const I whole = static_cast<I>(place);
      piece.whole &= static_cast<double>(whole) == place;
      if (copies) {
        std::atomic_ref(slots_[whole]).store(static_cast<I>(i), std::memory_order_relaxed);
      }
    }
  }

  // The neighbours of a vertex by the levels that they are in.
  struct Around {
    Squares squares_before = 0;
    Squares squares_within = 0;  // and of the vertex itself
    bool has_next = false;
  };
  // Without branches, for nobody could predict them, and in a form that compilers do for several
  // neighbours at a time.
  static Around look_around(std::span<const I> neighbours, const I* seen, I here, I vertex) {
    const I* const names = neighbours.data();
    const auto degree = static_cast<I>(neighbours.size());
    Squares squares_before = 0;
    Squares squares_within = 0;
    I in_next = degree;
    I itself = 0;
    for (I k = 0; k < degree; ++k) {
      // All bits or none.
      const I is_before = ~(seen[k] >> (std::numeric_limits<I>::digits));
      const I is_here = -static_cast<I>(seen[k] == here);
      squares_before += square(names[k] & is_before);
      squares_within += square(names[k] & is_here);
      in_next += is_before + is_here;
      itself += static_cast<I>(names[k] == vertex);
    }
    if (itself == 0) squares_within += square(vertex);
    return {squares_before, squares_within, in_next != 0};
  }

  // The place of the one vertex that has for neighbours in its level, together with itself, these
  // vertices of the level; or else their mean place. The mean alone would not do at the borders of
  // a plane: it moves the first line by half a line, into the second.
  double copied_place(std::span<const I> before, Squares squares) const {
    Offset sum = 0;
    Offset copies = 0;
    I copied = 0;
    for (const I place : before) {
      const bool matches = squares_before_[place] == squares;
      sum += place;
      copies += matches ? 1 : 0;
      copied = matches ? place : copied;
    }
    if (copies == 1) return static_cast<double>(copied);
    return static_cast<double>(sum) / static_cast<double>(std::max<std::size_t>(before.size(), 1));
  }

  // Whether enough vertices have no neighbours in the next level, and enough have.
  bool is_split() const {
    Offset inner = 0;
    for (Offset piece = 0; piece < ceil_div(size(), grain_); ++piece) {
      inner += pieces_[piece].inner;
    }
    return static_cast<double>(std::min(inner, size() - inner)) >=
           kInnerShare * static_cast<double>(size());
  }

  // Where the keys are the places 0 … size − 1 there is nothing to sort, nor with a single thread:
  // most levels of a lattice are so. False, and nothing done, for others. Level 0 is in order.
  bool settle_copy() {
    const bool first = l_ == 0;
    const Offset pieces = ceil_div(size(), grain_);
    if (!first) {
      if (Offset{size_before()} != size() || is_split()) return false;
      for (Offset piece = 0; piece < pieces; ++piece) {
        if (!pieces_[piece].whole) return false;
      }
    }
    squares_before_.resize(level_.size());
    std::atomic<bool> each_once{true};
    parallel_dynamic(pieces, 1, [&](Offset piece, Offset) {
      const Chunk chunk = vertices_of(piece);
      bool alone = true;
      for (Offset i = chunk.begin; i < chunk.end; ++i) {
        const Offset place = first ? i : static_cast<Offset>(places_[i]);
        alone &= first || slots_[place] == i;
      }
      if (!alone) {
        each_once.store(false, std::memory_order_relaxed);
        return;
      }
      for (Offset i = chunk.begin; i < chunk.end; ++i) {
        settle(i, first ? i : static_cast<Offset>(places_[i]));
      }
      take_found(piece);
    });
    if (!each_once) {
      parallel_for(size(), [&](Offset i) { at(level_[i]) = pending(l_); });
      return false;
    }
    if (!first) {
      const Offset steps = std::max<Offset>(size() - 2, 0);
      steps_ += steps;
      same_steps_ += steps;
    }
    return true;
  }

  void settle(Offset i, Offset place) {
    const I vertex = level_[i];
    const I position = static_cast<I>(begin() + place);
    result_.order[position] = vertex;
    at(vertex) = position;
    squares_before_[place] = squares_[i];
  }

  // Those that the piece has found and nobody else has taken make up the next level, in any order.
  void take_found(Offset piece) {
    std::vector<I>& found = pieces_[piece].found;
    // Others that have found a vertex as well look at it meanwhile.
    std::erase_if(found, [&](I vertex) {
      return std::atomic_ref(at(vertex)).load(std::memory_order_relaxed) != found_by(piece);
    });
    const Offset first = std::atomic_ref(found_).fetch_add(std::ssize(found));
    for (std::size_t i = 0; i < found.size(); ++i) {
      next_[first + static_cast<Offset>(i)] = found[i];
      std::atomic_ref(at(found[i])).store(pending(l_ + 1), std::memory_order_relaxed);
    }
    found.clear();
  }

  void settle_sorted() {
    if (key_place_.empty()) key_place_.resize(at_.size());
    parallel_for(size(), [&](Offset i) { key_place_[level_[i] - component_.begin] = places_[i]; });
    sort_level();
    squares_before_.resize(level_.size());
    parallel_for(size(), [&](Offset place) { settle(sorted_[place].i, place); });
    parallel_dynamic(ceil_div(size(), grain_), 1, [&](Offset piece, Offset) { take_found(piece); });
  }

  void sort_level() {
    sorted_.resize(level_.size());
    std::span<Key> rest(sorted_);
    if (is_split()) {
      const auto keys_with = [&](bool next) {
        return [this, next](std::size_t i) { return (has_next_[i] != 0) == next; };
      };
      rest = rest.subspan(sort_keys(rest, keys_with(false)));
      sort_keys(rest, keys_with(true));
    } else {
      sort_keys(rest, [](std::size_t) { return true; });
    }
  }

  // Writes those keys of the level for which chosen(i) holds, sorted: by a pass through the places
  // of the level before, for there are about as many. Returns their number.
  template <class Chosen>
  std::size_t sort_keys(std::span<Key> to, const Chosen& chosen) {
    starts_.assign(static_cast<std::size_t>(size_before()) + 1, 0);
    const auto bucket = [&](std::size_t i) { return static_cast<std::size_t>(places_[i]); };
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (chosen(i)) ++starts_[bucket(i) + 1];
    }
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    const std::size_t count = starts_.back();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (chosen(i)) to[starts_[bucket(i)]++] = {places_[i], static_cast<I>(i)};
    }
    std::size_t begin = 0;
    for (const std::size_t end : starts_) {
      if (end > begin + 1) sort_bucket(to.subspan(begin, end - begin));
      begin = end;
    }
    count_steps(to.first(count));
    return count;
  }

  // Vertices at the same place, as there are at borders, go by their neighbours in the same level.
  void sort_bucket(std::span<Key> keys) {
    std::ranges::sort(keys, [&](const Key& a, const Key& b) {
      if (a.place != b.place) return a.place < b.place;
      const auto rank = [&](I vertex) {
        return std::tuple(mean_in_level(vertex), graph_.row_length(vertex), vertex);
      };
      return rank(level_[a.i]) < rank(level_[b.i]);
    });
  }

  void count_steps(std::span<const Key> part) {
    const auto step = [&](std::size_t i) { return part[i].place - part[i - 1].place; };
    for (std::size_t i = 2; i < part.size(); ++i) {
      ++steps_;
      same_steps_ += std::abs(step(i) - step(i - 1)) < kSameStep ? 1 : 0;
    }
  }

  double mean_in_level(I vertex) const {
    double sum = 0;
    double count = 0;
    for (const I neighbour : graph_.columns_of(vertex)) {
      if (neighbour == vertex || at(neighbour) != pending(l_)) continue;
      sum += key_place_[neighbour - component_.begin];
      count += 1;
    }
    return sum / std::max(count, 1.0);
  }

  PatternView<I> graph_;
  RowRange<I> component_;
  Array<I> at_;              // where vertices are in the order
  Array<double> key_place_;  // what vertices are sorted by, of levels that are sorted

  // The level that is looked at, as it was found, and the next one.
  I l_ = 0;
  Array<I> level_;
  Array<I> next_;
  Offset found_ = 0;  // of the next one
  Offset grain_ = 1;  // vertices of a piece
  std::vector<Piece> pieces_;
  Array<double> places_;  // the keys
  Array<unsigned char> has_next_;
  // Of the neighbours in the same level and the vertex itself; those of the level before in order.
  Array<Squares> squares_;
  Array<Squares> squares_before_;
  Array<I> slots_;  // who has a place
  std::vector<Key> sorted_;
  std::vector<std::size_t> starts_;  // of places among the sorted keys

  Offset steps_ = 0;  // from one vertex to the next, and those that are like the one before
  Offset same_steps_ = 0;
  Layers<I> result_;
};

// The best order of a component of a face, from the sides that it may have and from one end.
template <Index I>
Array<I> order_of_part(BreadthFirst<I>& search, RowRange<I> component, I start) {
  Scene<I> scene{search, component, find_ends(search, component, start)};
  Array<I> best = scene.ends.from_first.order;
  double fewest = std::numeric_limits<double>::infinity();
  const auto attempt = [&](std::span<const I> side) {
    LayOut<I> candidate(search.graph(), component);
    if (!candidate.run(side, {})) return;
    const double differences = candidate.differences();
    if (differences >= fewest) return;
    fewest = differences;
    best = std::move(candidate.result().order);
  };
  for (const auto& find_side : side_finders<I>()) {
    const RootSet<I> side = find_side(scene);
    // Sides that are most of what there is are none, and would not come to an end.
    const auto roots = static_cast<I>(side.roots.size());
    if (roots == 0 || roots > (component.end - component.begin) / 2) continue;
    attempt(side.roots);
    if (fewest <= kCopies) return best;
  }
  attempt(scene.ends.from_first.level(0));
  return best;
}

template <Index I>
Array<I> order_of_face(const PatternView<I>& graph) {
  ComponentGraph<I> parts(graph);
  parts.bring_near(Array<I>(parts.first_search.order));
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
  for (I& vertex : order) vertex = parts.original(vertex);
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
std::optional<Layers<I>> lay_out_copies(BreadthFirst<I>& search, RowRange<I> component,
                                        std::span<const I> roots,
                                        const typename BreadthFirst<I>::GoOn& go_on) {
  LayOut<I> candidate(search.graph(), component);
  if (!candidate.run(roots, go_on)) return std::nullopt;
  const double differences = candidate.differences();
  if (differences > kCopies) {
    Layers<I> levels;
    search.search(component, roots, levels);
    if (differences > kNearlyCopies * differences_in(search.graph(), component, levels.order)) {
      return std::nullopt;
    }
  }
  return std::move(candidate.result());
}

#define STRATA_INSTANTIATE(I)                                   \
  template bool is_regular(const PatternView<I>&, RowRange<I>); \
  template std::optional<Layers<I>> lay_out_copies(             \
      BreadthFirst<I>&, RowRange<I>, std::span<const I>, const BreadthFirst<I>::GoOn&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
