// Peers on several ranks of MPI: products of other libraries whose rows are distributed as ours. In
// the library strata_peers, where that is built with MPI.
#pragma once

#include <mpi.h>

#include <vector>

#include "strata/formats/csr.hpp"
#include "strata/measure/peer.hpp"

namespace strata {

// What a rank has of a matrix.
template <Value V, Index I>
struct RankRows {
  const Csr<V, I>& local;  // its rows, with the columns of the whole matrix
  Offset rows = 0;         // of the whole matrix
  Offset own_cols = 0;     // elements of x that the rank has
};

// Collective. The libraries of this build, each with a copy of the rank's rows; spans of their
// products are those of the rank, and `bytes` too.
template <Value V, Index I>
std::vector<Peer<V>> make_rank_peers(const RankRows<V, I>& part, MPI_Comm ranks);

namespace internal {
template <Value V, Index I>
Peer<V> make_petsc_rank_peer(const RankRows<V, I>& part, MPI_Comm ranks);
}  // namespace internal

}  // namespace strata
