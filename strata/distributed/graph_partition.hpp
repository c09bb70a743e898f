// Rows by the graph of the matrix: each rank gets rows that have much to do with one another and
// little with those of others, found by PT-Scotch from the graph as it is distributed (Chevalier,
// Pellegrini: PT-Scotch, Parallel Computing 34, 2008). Rows are numbered anew, those of rank 0
// first; the order is kept, for vectors.
//
//   auto [matrix, order] = by_graph(world, std::move(given));
//   order.to_new<double>(world, x_given, x);   // the rank's elements of both
#pragma once

#include <span>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/distributed/communicator.hpp"
#include "strata/distributed/matrix.hpp"
#include "strata/distributed/partition.hpp"

namespace strata::distributed {

// Which rows a rank has instead of those that it had.
class DistributedOrder {
 public:
  DistributedOrder() = default;
  // Collective. `owners`: the rank that each of this rank's rows goes to. Rows of a rank keep their
  // order. Throws InvalidArgument for ranks that there are not.
  DistributedOrder(const Communicator& ranks, const Partition& before, std::span<const int> owners);

  const Partition& before() const { return before_; }
  const Partition& after() const { return after_; }
  // The old numbers of the rows that this rank has now, increasing.
  const std::vector<Offset>& old_numbers() const { return old_numbers_; }
  // The new numbers of the rows that this rank had.
  const std::vector<Offset>& new_numbers() const { return new_numbers_; }

  // Collective. Vectors of the rank's elements, `vectors` of them interleaved.
  template <class T>
  void to_new(const Communicator& ranks, std::span<const T> old_elements, std::span<T> new_elements,
              int vectors = 1) const;
  template <class T>
  void to_old(const Communicator& ranks, std::span<const T> new_elements, std::span<T> old_elements,
              int vectors = 1) const;

 private:
  Partition before_, after_;
  std::vector<Offset> old_numbers_;
  std::vector<Offset> new_numbers_;
};

template <Value V, Index I>
struct OrderedMatrix {
  DistributedMatrix<V, I> matrix;
  DistributedOrder order;
};

// Collective. A square matrix with its rows and columns in another order.
template <Value V, Index I>
DistributedMatrix<V, I> reordered(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                                  const DistributedOrder& order);

// Collective. The share of all entries that are in columns of another rank: the edge cut.
template <Value V, Index I>
double edge_cut(const Communicator& ranks, const DistributedMatrix<V, I>& matrix);

// Whether this build has PT-Scotch.
bool has_graph_partitioner();

// Collective. About as many entries on every rank, and few between ranks. Throws InvalidArgument
// for matrices that are not square, Unavailable without PT-Scotch, and OverflowError for more rows
// or entries than its integers count.
template <Value V, Index I>
OrderedMatrix<V, I> by_graph(const Communicator& ranks, const DistributedMatrix<V, I>& matrix);

}  // namespace strata::distributed
