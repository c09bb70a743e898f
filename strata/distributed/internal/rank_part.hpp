// RankPart: what a rank has of a matrix, as two matrices that plans take. Interior rows need
// nothing but the rank's own elements of x and use them where they are. The other rows, its border,
// read elements from a room (halo.hpp) that has those of others and the few own ones that they
// need.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/distributed/communicator.hpp"
#include "strata/distributed/matrix.hpp"
#include "strata/distributed/partition.hpp"
#include "strata/formats/csr.hpp"

namespace strata::distributed::detail {

// Local numbers: of a rank's rows and columns.
using Local = std::int32_t;

// p₁ × p₂ ranks, row by row.
struct RankGrid {
  int rows = 1;
  int cols = 1;

  int row_of(int rank) const { return rank / cols; }
  int col_of(int rank) const { return rank % cols; }
  // The rank that has entries of a row of one rank's and a column of another's.
  int holder(int row_owner, int col_owner) const {
    return row_of(row_owner) * cols + col_of(col_owner);
  }
};

template <Value V>
struct RankPart {
  // Rows [interior_begin, interior_begin + interior.rows()) of this rank, where those that are in
  // the border are empty.
  Csr<V, Local> interior;
  Local interior_begin = 0;
  Csr<V, Local> border;

  std::vector<Offset> border_rows;     // of the whole matrix, increasing
  Offset border_below = 0;             // those of ranks before this one
  std::vector<Local> own_border_rows;  // of this rank, by their local numbers
  std::vector<Offset> ghosts;          // columns of other ranks that the border reads, increasing
  std::vector<Local> own_columns;      // and own ones, by their local numbers

  Offset interior_rows = 0;
  Offset cut_entries = 0;
  Offset entries() const { return interior.nnz() + border.nnz(); }
  std::vector<Offset> foreign_rows() const;  // border rows of other ranks

  // Matrices are needed to plan and for new values, and then no more.
  void drop_matrices() {
    interior = {};
    border = {};
    own_interior_columns = {};
    own_interior_offsets = {};
  }

  // What the interior borrows, besides values of the matrix.
  Array<Offset> own_interior_offsets;
  Array<Local> own_interior_columns;
};

// Throws InvalidArgument unless the matrix has the rows that its partition says.
template <Value V, Index I>
void require_shape(const Communicator& ranks, const DistributedMatrix<V, I>& matrix) {
  if (matrix.rows.parts() != ranks.size() || matrix.cols.parts() != ranks.size()) {
    throw InvalidArgument("a matrix in more or fewer parts than there are ranks");
  }
  if (matrix.local.rows() != matrix.rows.size(ranks.rank()) ||
      matrix.local.cols() != matrix.cols.elements()) {
    throw InvalidArgument("the rows of a rank are not those that the partition gives it");
  }
}

// Collective if the grid has several columns: entries then move to their ranks. The interior may
// borrow the values of the matrix.
template <Value V, Index I>
RankPart<V> rank_part(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                      const RankGrid& grid);

}  // namespace strata::distributed::detail
