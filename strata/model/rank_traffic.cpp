#include "strata/model/rank_traffic.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata {

namespace {

constexpr Offset kFewestDeep = 16;

int owner_of(std::span<const Offset> ranges, Offset element) {
  return static_cast<int>(std::ranges::upper_bound(ranges, element) - ranges.begin()) - 1;
}

// The owner of every element, for those that are asked for often.
std::vector<int> owners_of(std::span<const Offset> ranges) {
  std::vector<int> owners(static_cast<std::size_t>(ranges.back()));
  for (std::size_t rank = 0; rank + 1 < ranges.size(); ++rank) {
    std::fill(owners.begin() + ranges[rank], owners.begin() + ranges[rank + 1],
              static_cast<int>(rank));
  }
  return owners;
}

struct Received {
  int from = 0;
  Offset elements = 0;
};

// Elements that one rank after another needs of others. One object per thread.
class Gathering {
 public:
  Gathering(Offset elements, int ranks)
      : seen_by_(static_cast<std::size_t>(elements), -1),
        from_(static_cast<std::size_t>(ranks), 0) {}

  // Whether the rank sees the element for the first time.
  bool first_time(Offset element, int rank) {
    return std::exchange(seen_by_[static_cast<std::size_t>(element)], rank) != rank;
  }
  void count(int owner) {
    if (from_[static_cast<std::size_t>(owner)]++ == 0) partners_.push_back(owner);
  }
  // What was counted, which is then forgotten.
  std::vector<Received> take() {
    std::vector<Received> all;
    for (const int owner : partners_) {
      all.push_back({owner, std::exchange(from_[static_cast<std::size_t>(owner)], 0)});
    }
    partners_.clear();
    return all;
  }

 private:
  std::vector<int> seen_by_;
  std::vector<Offset> from_;
  std::vector<int> partners_;
};

// body(rank, gathering) for the ranks of a list, on all threads.
void for_ranks(Offset count, Offset elements, int ranks,
               const std::function<void(Offset, Gathering&)>& body) {
  std::mutex mutex;
  std::vector<Gathering> free;
  parallel_dynamic(count, 1, [&](Offset begin, Offset end) {
    std::unique_lock lock(mutex);
    Gathering gathering = free.empty() ? Gathering(elements, ranks) : std::move(free.back());
    if (!free.empty()) free.pop_back();
    lock.unlock();
    for (Offset i = begin; i < end; ++i) body(i, gathering);
    lock.lock();
    free.push_back(std::move(gathering));
  });
}

bool near(int a, int b, int ranks_per_node) {
  return a / ranks_per_node == b / ranks_per_node;
}

Exchange exchange_of(int rank, const std::vector<Received>& received, int ranks_per_node) {
  Exchange all;
  for (const Received& each : received) {
    all.add(near(rank, each.from, ranks_per_node), each.elements);
  }
  return all;
}

// Ranks out of all, spread evenly; both ends are among them.
std::vector<int> spread(int ranks, Offset count) {
  std::vector<int> chosen;
  if (count >= ranks) count = ranks;
  for (Offset i = 0; i < count; ++i) {
    chosen.push_back(static_cast<int>(count == 1 ? ranks / 2 : i * (ranks - 1) / (count - 1)));
  }
  return chosen;
}

template <Index I>
DeepShare deep_share(const PatternView<I>& pattern, const RankLayout& layout, int depth, int rank,
                     Gathering& gathering) {
  const Offset begin = layout.rows[static_cast<std::size_t>(rank)];
  const Offset end = layout.rows[static_cast<std::size_t>(rank) + 1];
  DeepShare share{.rank = rank,
                  .rows = end - begin,
                  .entries = pattern.row_offsets[static_cast<std::size_t>(end)] -
                             pattern.row_offsets[static_cast<std::size_t>(begin)]};
  std::vector<Offset> ring, next;
  const auto visit = [&](Offset row) {
    for (const I column : pattern.columns_of(static_cast<I>(row))) {
      if (begin <= column && column < end) continue;
      if (!gathering.first_time(column, rank)) continue;
      gathering.count(owner_of(layout.cols, column));
      next.push_back(column);
    }
  };
  for (Offset row = begin; row < end; ++row) visit(row);
  for (int distance = 1; distance < depth; ++distance) {
    std::swap(ring, next);
    next.clear();
    Offset entries = 0;
    for (const Offset row : ring) {
      entries += pattern.row_length(static_cast<I>(row));
      visit(row);
    }
    // Rows at this distance are computed for powers 1 … depth − distance.
    share.ghost_rows += std::ssize(ring);
    share.redundant_rows += (depth - distance) * std::ssize(ring);
    share.redundant_entries += (depth - distance) * entries;
  }
  share.received = exchange_of(rank, gathering.take(), layout.ranks_per_node);
  return share;
}

}  // namespace

std::vector<Offset> even_ranges(Offset elements, int ranks) {
  std::vector<Offset> ranges{0};
  for (int rank = 0; rank < ranks; ++rank) ranges.push_back(chunk_of(elements, rank, ranks).end);
  return ranges;
}

std::vector<Offset> rows_by_entries(std::span<const Offset> row_offsets, int ranks) {
  if (ranks < 1) throw InvalidArgument("there is one rank at least");
  const std::vector<Offset> even = even_ranges(std::ssize(row_offsets) - 1, ranks);
  std::vector<Offset> weights(row_offsets.begin(), row_offsets.end());
  for (std::size_t row = 0; row < weights.size(); ++row) {
    weights[row] += kRowWeight * static_cast<Offset>(row);
  }
  Offset most = 0;
  for (std::size_t rank = 0; rank + 1 < even.size(); ++rank) {
    most = std::max(most, weights[static_cast<std::size_t>(even[rank + 1])] -
                              weights[static_cast<std::size_t>(even[rank])]);
  }
  const double mean = static_cast<double>(weights.back()) / ranks;
  if (static_cast<double>(most) <= 1.01 * mean) return even;
  std::vector<Offset> ranges{0};
  for (int rank = 0; rank < ranks; ++rank) {
    ranges.push_back(balanced_chunk_of(weights, rank, ranks).end);
  }
  return ranges;
}

template <Index I>
RankLayout layout_by_entries(const PatternView<I>& pattern, int ranks, int ranks_per_node) {
  RankLayout layout{.rows = rows_by_entries(pattern.row_offsets, ranks),
                    .cols = {},
                    .ranks_per_node = ranks_per_node};
  layout.cols = pattern.rows == pattern.cols ? layout.rows : even_ranges(pattern.cols, ranks);
  return layout;
}

void Exchange::add(bool is_near, Offset elements) {
  ++(is_near ? near_messages : far_messages);
  (is_near ? near_elements : far_elements) += elements;
}

template <Index I>
std::vector<RowsShare> count_rows(const PatternView<I>& pattern, const RankLayout& layout) {
  const int ranks = layout.ranks();
  std::vector<RowsShare> shares(static_cast<std::size_t>(ranks));
  std::vector<std::vector<Received>> received(shares.size());
  for_ranks(ranks, pattern.cols, ranks, [&](Offset at, Gathering& gathering) {
    const int rank = static_cast<int>(at);
    RowsShare& share = shares[static_cast<std::size_t>(at)];
    const Offset first = layout.cols[static_cast<std::size_t>(at)];
    const Offset last = layout.cols[static_cast<std::size_t>(at) + 1];
    for (Offset row = layout.rows[static_cast<std::size_t>(at)];
         row < layout.rows[static_cast<std::size_t>(at) + 1]; ++row) {
      bool interior = true;
      for (const I column : pattern.columns_of(static_cast<I>(row))) {
        if (first <= column && column < last) continue;
        interior = false;
        if (gathering.first_time(column, rank)) gathering.count(owner_of(layout.cols, column));
      }
      const Offset length = pattern.row_length(static_cast<I>(row));
      ++share.rows;
      share.entries += length;
      if (interior) share.interior_entries += length;
    }
    received[static_cast<std::size_t>(at)] = gathering.take();
    share.received =
        exchange_of(rank, received[static_cast<std::size_t>(at)], layout.ranks_per_node);
  });
  for (int rank = 0; rank < ranks; ++rank) {
    for (const Received& each : received[static_cast<std::size_t>(rank)]) {
      shares[static_cast<std::size_t>(each.from)].sent.add(
          near(rank, each.from, layout.ranks_per_node), each.elements);
    }
  }
  return shares;
}

int square_grid_rows(int ranks) {
  int rows = 1;
  for (int divisor = 1; Offset{divisor} * divisor <= ranks; ++divisor) {
    if (ranks % divisor == 0) rows = divisor;
  }
  return rows;
}

template <Index I>
std::vector<GridShare> count_grid(const PatternView<I>& pattern, const RankLayout& layout,
                                  int grid_rows) {
  const int ranks = layout.ranks();
  if (grid_rows < 1 || ranks % grid_rows != 0) {
    throw InvalidArgument("the rows of a grid of ranks have to divide the number of ranks");
  }
  const int grid_cols = ranks / grid_rows;
  const auto cols = static_cast<std::size_t>(grid_cols);
  const std::vector<int> owners = owners_of(layout.cols);
  std::vector<GridShare> shares(static_cast<std::size_t>(ranks));
  const auto exchange = [&](int from, int to, Offset elements, Exchange GridShare::* sent,
                            Exchange GridShare::* received) {
    const bool is_near = near(from, to, layout.ranks_per_node);
    (shares[static_cast<std::size_t>(from)].*sent).add(is_near, elements);
    (shares[static_cast<std::size_t>(to)].*received).add(is_near, elements);
  };
  std::vector<int> seen_by(static_cast<std::size_t>(pattern.cols), -1);
  std::vector<Offset> last_row(cols, -1);  // that had entries in a column of ranks
  std::vector<Offset> expanded(static_cast<std::size_t>(ranks));  // by owner, for this row of ranks
  std::vector<Offset> folded(cols * cols);  // from column of ranks to that of the row's owner
  for (int i = 0; i < grid_rows; ++i) {
    std::ranges::fill(expanded, 0);
    std::ranges::fill(folded, 0);
    for (int of = 0; of < grid_cols; ++of) {
      const int owner = i * grid_cols + of;
      for (Offset row = layout.rows[static_cast<std::size_t>(owner)];
           row < layout.rows[static_cast<std::size_t>(owner) + 1]; ++row) {
        bool interior = true;
        for (const I column : pattern.columns_of(static_cast<I>(row))) {
          const int source = owners[static_cast<std::size_t>(column)];
          const auto j = static_cast<std::size_t>(source % grid_cols);
          ++shares[static_cast<std::size_t>(i) * cols + j].entries;
          if (source != owner) interior = false;
          if (std::exchange(seen_by[static_cast<std::size_t>(column)], i) != i) {
            ++expanded[static_cast<std::size_t>(source)];
          }
          if (std::exchange(last_row[j], row) != row) {
            ++folded[j * cols + static_cast<std::size_t>(of)];
          }
        }
        GridShare& share = shares[static_cast<std::size_t>(owner)];
        ++share.rows;
        if (interior) share.interior_entries += pattern.row_length(static_cast<I>(row));
      }
    }
    for (int source = 0; source < ranks; ++source) {
      const int to = i * grid_cols + source % grid_cols;
      const Offset elements = expanded[static_cast<std::size_t>(source)];
      if (source == to || elements == 0) continue;
      exchange(source, to, elements, &GridShare::expand_sent, &GridShare::expand_received);
    }
    for (int j = 0; j < grid_cols; ++j) {
      for (int of = 0; of < grid_cols; ++of) {
        const Offset elements =
            folded[static_cast<std::size_t>(j) * cols + static_cast<std::size_t>(of)];
        if (j == of || elements == 0) continue;
        exchange(i * grid_cols + j, i * grid_cols + of, elements, &GridShare::fold_sent,
                 &GridShare::fold_received);
      }
    }
  }
  return shares;
}

template <Index I>
std::vector<DeepShare> count_deep(const PatternView<I>& pattern, const RankLayout& layout,
                                  int depth, Offset most_entries) {
  if (pattern.rows != pattern.cols) throw InvalidArgument("powers need a square matrix");
  if (depth < 1) throw InvalidArgument("a sweep has one power at least");
  const int ranks = layout.ranks();
  // What one rank in the middle visits stands for the others.
  Gathering probe(pattern.cols, ranks);
  const DeepShare middle = deep_share(pattern, layout, depth, ranks / 2, probe);
  const Offset visited = std::max<Offset>(1, middle.entries + middle.redundant_entries);
  const std::vector<int> chosen =
      spread(ranks, std::max<Offset>(kFewestDeep, most_entries / visited));
  std::vector<DeepShare> shares(chosen.size());
  for_ranks(std::ssize(chosen), pattern.cols, ranks, [&](Offset at, Gathering& gathering) {
    shares[static_cast<std::size_t>(at)] =
        deep_share(pattern, layout, depth, chosen[static_cast<std::size_t>(at)], gathering);
  });
  return shares;
}

#define STRATA_INSTANTIATE(I)                                                                \
  template RankLayout layout_by_entries(const PatternView<I>&, int, int);                    \
  template std::vector<RowsShare> count_rows(const PatternView<I>&, const RankLayout&);      \
  template std::vector<GridShare> count_grid(const PatternView<I>&, const RankLayout&, int); \
  template std::vector<DeepShare> count_deep(const PatternView<I>&, const RankLayout&, int, Offset)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
