// GhostRows: the rows of other ranks that are near a rank's own in the graph of the matrix, found
// and fetched distance by distance.
#pragma once

#include <span>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/distributed/communicator.hpp"
#include "strata/distributed/internal/rank_part.hpp"
#include "strata/distributed/matrix.hpp"

namespace strata::distributed::detail {

template <Value V, Index I>
class GhostRows {
 public:
  // Collective, as all that follows. Knows what is at distance 1: columns of own rows.
  GhostRows(const Communicator& ranks, const DistributedMatrix<V, I>& matrix);

  // Fetches the rows at distance reach() and knows what is one further.
  void extend();
  int reach() const { return static_cast<int>(at_.size()); }

  // Elements of other ranks at a distance, 1 … reach(), increasing. Not collective.
  std::span<const Offset> at(int distance) const {
    return at_[static_cast<std::size_t>(distance - 1)];
  }
  Offset count_within(int distance) const;
  // Entries of the rows at a distance, 1 … reach() − 1.
  Offset entries_at(int distance) const { return std::ssize(rows(distance).columns); }
  // Ranks that have elements within a distance.
  Offset owners_within(int distance) const;

  // The matrix of a sweep of so many powers, at most reach(): own rows and ghosts within
  // distance `depth`, numbered as in the whole matrix, and the distance of each. Rows at distance
  // `depth` are empty: of them x alone is needed.
  struct Extended {
    Csr<V, Local> matrix;
    std::vector<Offset> ghosts;           // increasing
    std::vector<std::int32_t> distances;  // of all rows
    Offset below = 0;                     // ghosts of ranks before this one
  };
  Extended extended(int depth) const;

 private:
  // Rows that were fetched, in the order of the elements at their distance.
  struct Rows {
    std::vector<Offset> offsets = {0};
    std::vector<I> columns;
    std::vector<V> values;
  };
  const Rows& rows(int distance) const { return rows_[static_cast<std::size_t>(distance - 1)]; }
  void find_next(std::span<const I> columns);
  Rows fetch(std::span<const Offset> wanted) const;

  const Communicator& ranks_;
  const DistributedMatrix<V, I>& matrix_;
  std::vector<std::vector<Offset>> at_;
  std::vector<Rows> rows_;
  std::vector<Offset> known_;  // all of at_, increasing
};

}  // namespace strata::distributed::detail
