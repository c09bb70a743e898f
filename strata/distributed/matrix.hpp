// DistributedMatrix: a matrix of which every rank has some rows, as generators and files deliver it
// and as plans take it. No rank ever has the whole.
//
//   const Communicator world(MPI_COMM_WORLD);
//   auto matrix = generate_distributed<double, std::int32_t>(world, "stencil7:256x256x256");
//   matrix = by_nonzeros(world, std::move(matrix));
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/distributed/communicator.hpp"
#include "strata/distributed/partition.hpp"
#include "strata/formats/csr.hpp"

namespace strata::distributed {

// Elements of x in Ax belong to ranks as `cols` says, those of Ax as `rows` says. Square matrices
// have the same partition twice.
template <Value V, Index I>
struct DistributedMatrix {
  Partition rows;
  Partition cols;
  Csr<V, I> local;  // the rows of this rank; columns have the numbers of the whole matrix

  bool square() const { return rows == cols; }
};

// An entry on its way to the rank that has its row.
template <Value V, Index I>
struct Entry {
  I row = 0;
  I column = 0;
  V value = V(0);
};

// From entries that ranks hold in any order; duplicates are added up in the order of ranks. Throws
// InvalidMatrix for entries outside.
template <Value V, Index I>
DistributedMatrix<V, I> assemble(const Communicator& ranks, const Partition& rows,
                                 const Partition& cols, std::vector<Entry<V, I>> entries);

// Every rank makes its own rows, as many on each.
template <Value V, Index I>
DistributedMatrix<V, I> generate_distributed(const Communicator& ranks, std::string_view spec);

// Matrix Market files by ranges of bytes, PETSc's binary files by ranges of rows. The file has to
// be readable on all ranks.
template <Value V, Index I>
DistributedMatrix<V, I> read_distributed(const Communicator& ranks,
                                         const std::filesystem::path& path);

// The same matrix with its rows, in their order, where there is about as much to read on every
// rank, a row counting as two entries more: as it is if no rank has more than 1 % above the mean.
// Rows with the same columns, the unknowns of a node, stay together. Columns of square matrices
// follow the rows.
template <Value V, Index I>
DistributedMatrix<V, I> by_nonzeros(const Communicator& ranks, DistributedMatrix<V, I> matrix);

// The same matrix in other ranges.
template <Value V, Index I>
DistributedMatrix<V, I> redistributed(const Communicator& ranks,
                                      const DistributedMatrix<V, I>& matrix, const Partition& rows,
                                      const Partition& cols);

}  // namespace strata::distributed
