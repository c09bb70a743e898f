// The libraries behind make_peers, one each; none where the matrix does not fit its index type.
#pragma once

#include <optional>
#include <vector>

#include "strata/measure/peers.hpp"

namespace strata::internal {

template <Value V, Index I>
std::optional<Peer<V>> make_eigen_peer(const Csr<V, I>& matrix);
template <Value V, Index I>
std::optional<Peer<V>> make_librsb_peer(const Csr<V, I>& matrix);

// One for each format that PETSc multiplies in; for values of another type than PETSc was built
// for, one that says so.
template <Value V, Index I>
std::vector<Peer<V>> make_petsc_peers(const Csr<V, I>& matrix);

}  // namespace strata::internal
