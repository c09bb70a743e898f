#include "strata/order/internal/breadth_first.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "strata/base/instantiate.hpp"

namespace strata::detail {

namespace {

// A level is cut into so many pieces for each thread, so that all are done at about the same time,
// but not into smaller ones than this.
constexpr Offset kPiecesPerThread = 4;
constexpr Offset kSmallestPiece = 64;
// Levels with fewer entries than these are expanded on the calling thread.
constexpr Offset kFewEntries = 32 * 1024;
// Where the work is per vertex found and not per entry, threads take so many vertices at a time.
constexpr Offset kCheapVertices = 4096;

}  // namespace

template <Index I>
BreadthFirst<I>::BreadthFirst(const PatternView<I>& graph, Children children)
    : graph_(graph), children_(children), parents_(graph.rows) {
  parallel_for(graph.rows, [&](Offset vertex) { parents_[vertex] = kClosed; });
}

template <Index I>
bool BreadthFirst<I>::search(RowRange<I> within, std::span<const I> roots, Layers<I>& found,
                             const GoOn& go_on) {
  const auto mark = [&](I state) {
    parallel_for(within.end - within.begin, [&](Offset i) { parents_[within.begin + i] = state; });
  };
  mark(kOpen);
  found.order.resize(within.end - within.begin);
  const bool complete = search_open(roots, found, go_on);
  mark(kClosed);
  return complete;
}

template <Index I>
bool BreadthFirst<I>::search(std::span<const I> within, std::span<const I> roots, Layers<I>& found,
                             const GoOn& go_on) {
  const auto mark = [&](I state) {
    parallel_for(static_cast<Offset>(within.size()),
                 [&](Offset i) { parents_[within[i]] = state; });
  };
  mark(kOpen);
  found.order.resize(within.size());
  const bool complete = search_open(roots, found, go_on);
  mark(kClosed);
  return complete;
}

// The order has room for all that can be found.
template <Index I>
bool BreadthFirst<I>::search_open(std::span<const I> roots, Layers<I>& found, const GoOn& go_on) {
  for (const I root : roots) parents_[root] = kClosed;
  std::ranges::copy(roots, found.order.begin());
  found.offsets.assign(1, 0);
  I end = static_cast<I>(roots.size());
  bool complete = true;
  while (found.offsets.back() < end) {
    const I begin = found.offsets.back();
    found.offsets.push_back(end);
    complete = !go_on || go_on(found.last());
    if (!complete) break;
    end = expand(found.order, begin, end);
  }
  found.order.resize(end);
  return complete;
}

template <Index I>
Components<I> BreadthFirst<I>::components(std::span<const I> vertices) {
  parallel_for(static_cast<Offset>(vertices.size()),
               [&](Offset i) { parents_[vertices[i]] = kOpen; });
  Components<I> found;
  found.order.resize(vertices.size());
  for (const I vertex : vertices) {
    if (parents_[vertex] != kOpen) continue;
    parents_[vertex] = kClosed;
    I begin = found.offsets.back();
    found.order[begin] = vertex;
    I end = begin + 1;
    I last = begin;
    while (begin < end) {
      const I next = expand(found.order, begin, end);
      last = begin;
      begin = std::exchange(end, next);
    }
    found.last_levels.push_back(last);
    found.offsets.push_back(end);
  }
  return found;
}

template <Index I>
I BreadthFirst<I>::expand(Array<I>& order, I begin, I end) {
  const Offset entries = (end - begin) * (graph_.entries() / std::max<Offset>(graph_.rows, 1) + 1);
  if (entries < kFewEntries || thread_count() == 1) {
    return expand_on_this_thread(order, begin, end);
  }
  return expand_in_parallel(order, begin, end);
}

template <Index I>
I BreadthFirst<I>::expand_on_this_thread(Array<I>& order, I begin, I end) {
  I* place = order.data() + end;
  for (I position = begin; position < end; ++position) {
    I* const first_child = place;
    prefetch_rows<I>(graph_, order, position, end);
    for (const I vertex : graph_.columns_of(order[position])) {
      if (parents_[vertex] != kOpen) continue;
      parents_[vertex] = position;
      *place++ = vertex;
    }
    arrange_children(std::span(first_child, place));
  }
  return static_cast<I>(place - order.data());
}

template <Index I>
I BreadthFirst<I>::expand_in_parallel(Array<I>& order, I begin, I end) {
  const Offset piece_size =
      std::max(ceil_div<Offset>(end - begin, kPiecesPerThread * thread_count()), kSmallestPiece);
  const Offset pieces = ceil_div<Offset>(end - begin, piece_size);
  if (static_cast<Offset>(claims_.size()) < pieces) claims_.resize(pieces);
  parallel_dynamic(pieces, 1, [&](Offset piece, Offset) {
    // Here while it grows: where they are kept, pieces of several threads share a cache line.
    std::vector<Claim> claims = std::move(claims_[piece]);
    claims.clear();
    const I first = static_cast<I>(begin + piece * piece_size);
    const I last = static_cast<I>(std::min<Offset>(first + piece_size, end));
    for (I position = first; position < last; ++position) {
      prefetch_rows<I>(graph_, order, position, last);
      for (const I vertex : graph_.columns_of(order[position])) {
        const std::atomic_ref parent(parents_[vertex]);
        I seen = parent.load(std::memory_order_relaxed);
        while (seen > position &&
               !parent.compare_exchange_weak(seen, position, std::memory_order_relaxed)) {
        }
        if (seen > position) claims.push_back({position, vertex});
      }
    }
    claims_[piece] = std::move(claims);
  });

  const Offset pieces_at_a_time = ceil_div<Offset>(kCheapVertices, piece_size);
  std::vector<Offset> starts(pieces + 1, 0);
  parallel_dynamic(pieces, pieces_at_a_time, [&](Offset first, Offset last) {
    for (Offset piece = first; piece < last; ++piece) {
      std::erase_if(claims_[piece],
                    [&](const Claim& claim) { return parents_[claim.vertex] != claim.parent; });
      starts[piece] = static_cast<Offset>(claims_[piece].size());
    }
  });
  const Offset children = exclusive_scan(starts);
  parallel_dynamic(pieces, pieces_at_a_time, [&](Offset first, Offset last) {
    I* place = order.data() + end + starts[first];
    for (Offset piece = first; piece < last; ++piece) {
      const std::vector<Claim>& claims = claims_[piece];
      for (auto claim = claims.begin(); claim != claims.end();) {
        I* const first_child = place;
        const I parent = claim->parent;
        for (; claim != claims.end() && claim->parent == parent; ++claim) *place++ = claim->vertex;
        arrange_children(std::span(first_child, place));
      }
    }
  });
  return static_cast<I>(end + children);
}

template <Index I>
void BreadthFirst<I>::arrange_children(std::span<I> children) const {
  if (children_ == Children::as_in_row) return;
  std::ranges::sort(children, [&](I a, I b) {
    const I degree_a = graph_.row_length(a);
    const I degree_b = graph_.row_length(b);
    return degree_a != degree_b ? degree_a < degree_b : a < b;
  });
}

#define STRATA_INSTANTIATE(I) template class BreadthFirst<I>
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
