#include "strata/distributed/graph_partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/distributed/internal/mpi_check.hpp"

#ifdef STRATA_HAS_PTSCOTCH
#include <ptscotch.h>
#endif

namespace strata::distributed {

namespace {

// Own numbers, given by element, of elements that are wanted from anywhere: in their order.
std::vector<Offset> fetch(const Communicator& ranks, const Partition& parts,
                          const std::vector<Offset>& of_own, const std::vector<Offset>& wanted) {
  const auto each = static_cast<std::size_t>(ranks.size());
  std::vector<std::vector<Offset>> asked(each);
  ranks.together([&] {
    for (const Offset element : wanted) {
      asked[static_cast<std::size_t>(parts.owner(element))].push_back(element);
    }
  });
  auto answers = ranks.exchange(asked);
  for (auto& list : answers) {
    for (Offset& element : list) {
      element = of_own[static_cast<std::size_t>(element - parts.begin(ranks.rank()))];
    }
  }
  const auto got = ranks.exchange(answers);
  std::vector<std::size_t> next(each, 0);
  std::vector<Offset> result;
  result.reserve(wanted.size());
  for (const Offset element : wanted) {
    const auto owner = static_cast<std::size_t>(parts.owner(element));
    result.push_back(got[owner][next[owner]++]);
  }
  return result;
}

void sort_unique(std::vector<Offset>& numbers) {
  std::ranges::sort(numbers);
  const auto repeated = std::ranges::unique(numbers);
  numbers.erase(repeated.begin(), repeated.end());
}

}  // namespace

DistributedOrder::DistributedOrder(const Communicator& ranks, const Partition& before,
                                   std::span<const int> owners)
    : before_(before) {
  const auto each = static_cast<std::size_t>(ranks.size());
  const Offset first = before.begin(ranks.rank());
  std::vector<std::vector<Offset>> leaving(each);
  ranks.together([&] {
    if (std::ssize(owners) != before.size(ranks.rank())) {
      throw InvalidArgument("an order of more or fewer rows than a rank has");
    }
    for (Offset row = 0; row < std::ssize(owners); ++row) {
      const int owner = owners[static_cast<std::size_t>(row)];
      if (owner < 0 || owner >= ranks.size()) {
        throw InvalidArgument(fmt::format("row {} for rank {}, which there is not", row, owner));
      }
      leaving[static_cast<std::size_t>(owner)].push_back(first + row);
    }
  });
  auto arriving = ranks.exchange(leaving);
  for (const auto& list : arriving) {
    old_numbers_.insert(old_numbers_.end(), list.begin(), list.end());
  }
  const std::vector<Offset> counts = ranks.gather_all(static_cast<Offset>(old_numbers_.size()));
  std::vector<Offset> offsets{0};
  for (const Offset count : counts) offsets.push_back(offsets.back() + count);
  after_ = Partition(std::move(offsets));
  // Those who sent rows hear what they are called now.
  Offset next = after_.begin(ranks.rank());
  for (auto& list : arriving) {
    for (Offset& number : list) number = next++;
  }
  const auto answers = ranks.exchange(arriving);
  new_numbers_.resize(owners.size());
  for (std::size_t rank = 0; rank < each; ++rank) {
    for (std::size_t i = 0; i < leaving[rank].size(); ++i) {
      new_numbers_[static_cast<std::size_t>(leaving[rank][i] - first)] = answers[rank][i];
    }
  }
}

namespace {

// Elements that move from ranks that have `numbers` for them to where these are places.
template <class T>
void move_elements(const Communicator& ranks, const Partition& target,
                   const std::vector<Offset>& numbers, std::span<const T> from, std::span<T> to,
                   int vectors) {
  ranks.together([&] {
    if (std::ssize(from) != std::ssize(numbers) * vectors ||
        std::ssize(to) != target.size(ranks.rank()) * vectors) {
      throw InvalidArgument("vectors of other lengths than the rows of a rank");
    }
  });
  const auto each = static_cast<std::size_t>(ranks.size());
  std::vector<std::vector<Offset>> places(each);
  std::vector<std::vector<T>> elements(each);
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    const auto owner = static_cast<std::size_t>(target.owner(numbers[row]));
    places[owner].push_back(numbers[row]);
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(row) * vectors;
    elements[owner].insert(elements[owner].end(), begin, begin + vectors);
  }
  const auto got_places = ranks.exchange(places);
  const auto got = ranks.exchange(elements);
  const Offset first = target.begin(ranks.rank());
  for (std::size_t rank = 0; rank < each; ++rank) {
    for (std::size_t i = 0; i < got_places[rank].size(); ++i) {
      for (int v = 0; v < vectors; ++v) {
        to[static_cast<std::size_t>((got_places[rank][i] - first) * vectors + v)] =
            got[rank][i * static_cast<std::size_t>(vectors) + static_cast<std::size_t>(v)];
      }
    }
  }
}

}  // namespace

template <class T>
void DistributedOrder::to_new(const Communicator& ranks, std::span<const T> old_elements,
                              std::span<T> new_elements, int vectors) const {
  move_elements(ranks, after_, new_numbers_, old_elements, new_elements, vectors);
}
template <class T>
void DistributedOrder::to_old(const Communicator& ranks, std::span<const T> new_elements,
                              std::span<T> old_elements, int vectors) const {
  move_elements(ranks, before_, old_numbers_, new_elements, old_elements, vectors);
}

template <Value V, Index I>
DistributedMatrix<V, I> reordered(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                                  const DistributedOrder& order) {
  ranks.together([&] {
    if (!matrix.square() || order.before() != matrix.rows) {
      throw InvalidArgument("an order for another matrix");
    }
  });
  std::vector<Offset> wanted;
  ranks.together([&] {
    wanted.assign(matrix.local.columns().begin(), matrix.local.columns().end());
    sort_unique(wanted);
  });
  const std::vector<Offset> renamed = fetch(ranks, matrix.cols, order.new_numbers(), wanted);
  std::vector<Entry<V, I>> entries;
  ranks.together([&] {
    const auto offsets = matrix.local.row_offsets();
    for (Offset row = 0; row < matrix.local.rows(); ++row) {
      const auto number = static_cast<I>(order.new_numbers()[static_cast<std::size_t>(row)]);
      for (Offset k = offsets[row]; k < offsets[row + 1]; ++k) {
        const auto place =
            std::ranges::lower_bound(wanted, Offset{matrix.local.columns()[k]}) - wanted.begin();
        entries.push_back({number, static_cast<I>(renamed[static_cast<std::size_t>(place)]),
                           matrix.local.values()[k]});
      }
    }
  });
  return assemble(ranks, order.after(), order.after(), std::move(entries));
}

template <Value V, Index I>
double edge_cut(const Communicator& ranks, const DistributedMatrix<V, I>& matrix) {
  const int self = ranks.rank();
  const auto columns = matrix.local.columns();
  const auto own =
      std::ranges::count_if(columns, [&](I column) { return matrix.cols.contains(self, column); });
  const Offset all = ranks.sum(std::ssize(columns));
  const Offset cut = ranks.sum(std::ssize(columns) - own);
  return all == 0 ? 0 : static_cast<double>(cut) / static_cast<double>(all);
}

bool has_graph_partitioner() {
#ifdef STRATA_HAS_PTSCOTCH
  return true;
#else
  return false;
#endif
}

#ifdef STRATA_HAS_PTSCOTCH

namespace {

void check_scotch(int code, const char* what) {
  if (code != 0) throw Error(fmt::format("PT-Scotch: {} failed", what));
}

class Graph {
 public:
  explicit Graph(MPI_Comm ranks) { check_scotch(SCOTCH_dgraphInit(&graph_, ranks), "a graph"); }
  ~Graph() { SCOTCH_dgraphExit(&graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  SCOTCH_Dgraph* get() { return &graph_; }

 private:
  SCOTCH_Dgraph graph_;
};

// One thread, because MPI may not allow others to send, and the same parts from run to run.
class Context {
 public:
  Context() {
    check_scotch(SCOTCH_contextInit(&context_), "a context");
    check_scotch(SCOTCH_contextThreadSpawn(&context_, 1, nullptr), "a thread");
    check_scotch(SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1),
                 "an option");
    check_scotch(SCOTCH_contextRandomClone(&context_), "random numbers");
    SCOTCH_contextRandomSeed(&context_, 0);
    SCOTCH_contextRandomReset(&context_);
  }
  ~Context() { SCOTCH_contextExit(&context_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  SCOTCH_Context* get() { return &context_; }

 private:
  SCOTCH_Context context_;
};

class Strategy {
 public:
  Strategy() { check_scotch(SCOTCH_stratInit(&strategy_), "a strategy"); }
  ~Strategy() { SCOTCH_stratExit(&strategy_); }
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  SCOTCH_Strat* get() { return &strategy_; }

 private:
  SCOTCH_Strat strategy_;
};

struct Edge {
  Offset row = 0;
  Offset column = 0;
};

// Neighbours of own rows in the graph of A + Aᵀ, without the rows themselves.
template <Value V, Index I>
std::vector<std::vector<Offset>> neighbours(const Communicator& ranks,
                                            const DistributedMatrix<V, I>& matrix) {
  const Offset first = matrix.rows.begin(ranks.rank());
  std::vector<std::vector<Offset>> of_row(static_cast<std::size_t>(matrix.local.rows()));
  std::vector<std::vector<Edge>> mirrored(static_cast<std::size_t>(ranks.size()));
  ranks.together([&] {
    const auto offsets = matrix.local.row_offsets();
    for (Offset row = 0; row < matrix.local.rows(); ++row) {
      for (Offset k = offsets[row]; k < offsets[row + 1]; ++k) {
        const Offset column = matrix.local.columns()[k];
        if (column == first + row) continue;
        of_row[static_cast<std::size_t>(row)].push_back(column);
        mirrored[static_cast<std::size_t>(matrix.rows.owner(column))].push_back(
            {column, first + row});
      }
    }
  });
  const auto got = ranks.exchange(mirrored);
  mirrored = {};
  ranks.together([&] {
    for (const auto& list : got) {
      for (const auto& [row, column] : list) {
        of_row[static_cast<std::size_t>(row - first)].push_back(column);
      }
    }
    for (auto& list : of_row) sort_unique(list);
  });
  return of_row;
}

}  // namespace

template <Value V, Index I>
OrderedMatrix<V, I> by_graph(const Communicator& ranks, const DistributedMatrix<V, I>& matrix) {
  ranks.together([&] {
    if (!matrix.square()) {
      throw InvalidArgument("rows are distributed by the graph of a square matrix");
    }
  });
  const auto of_row = neighbours(ranks, matrix);
  std::vector<SCOTCH_Num> starts{0}, edges, weights, parts(of_row.size());
  Offset all_edges = 0;
  for (const auto& list : of_row) all_edges += std::ssize(list);
  const Offset everywhere = ranks.sum(all_edges);
  ranks.together([&] {
    narrow<SCOTCH_Num>(matrix.rows.elements(), "the number of rows for PT-Scotch");
    narrow<SCOTCH_Num>(everywhere, "the number of entries for PT-Scotch");
    for (std::size_t row = 0; row < of_row.size(); ++row) {
      for (const Offset column : of_row[row]) edges.push_back(static_cast<SCOTCH_Num>(column));
      starts.push_back(static_cast<SCOTCH_Num>(edges.size()));
      const Offset length = matrix.local.row_offsets()[row + 1] - matrix.local.row_offsets()[row];
      weights.push_back(static_cast<SCOTCH_Num>(std::max<Offset>(length, 1)));
    }
  });
  const auto count = static_cast<SCOTCH_Num>(of_row.size());
  const auto edge_count = static_cast<SCOTCH_Num>(edges.size());
  // An empty array has no address, which the library takes for an argument that was left out.
  edges.push_back(0);
  weights.push_back(1);
  parts.push_back(0);
  if (matrix.rows.elements() > 0 && ranks.size() > 1) {
    Context context;
    Graph graph(ranks.handle()), bound(ranks.handle());
    check_scotch(
        SCOTCH_dgraphBuild(graph.get(), 0, count, count, starts.data(), nullptr, weights.data(),
                           nullptr, edge_count, edge_count, edges.data(), nullptr, nullptr),
        "building the graph");
    check_scotch(SCOTCH_contextBindDgraph(context.get(), graph.get(), bound.get()), "a context");
    Strategy strategy;
    check_scotch(SCOTCH_dgraphPart(bound.get(), ranks.size(), strategy.get(), parts.data()),
                 "the partition");
  }
  const std::vector<int> owners(parts.begin(), parts.begin() + count);
  DistributedOrder order(ranks, matrix.rows, owners);
  DistributedMatrix<V, I> moved = reordered(ranks, matrix, order);
  return {std::move(moved), std::move(order)};
}

#else

template <Value V, Index I>
OrderedMatrix<V, I> by_graph(const Communicator&, const DistributedMatrix<V, I>&) {
  throw Unavailable("this build has no PT-Scotch (Debian package libptscotch-dev)");
}

#endif

#define STRATA_INSTANTIATE(V, I)                                                                  \
  template DistributedMatrix<V, I> reordered(const Communicator&, const DistributedMatrix<V, I>&, \
                                             const DistributedOrder&);                            \
  template double edge_cut(const Communicator&, const DistributedMatrix<V, I>&);                  \
  template OrderedMatrix<V, I> by_graph(const Communicator&, const DistributedMatrix<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#define STRATA_INSTANTIATE_VALUE(V, I)                                                          \
  template void DistributedOrder::to_new(const Communicator&, std::span<const V>, std::span<V>, \
                                         int) const;                                            \
  template void DistributedOrder::to_old(const Communicator&, std::span<const V>, std::span<V>, \
                                         int) const
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_VALUE, );

}  // namespace strata::distributed
