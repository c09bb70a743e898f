// The libraries behind make_peers, one each; none where the matrix does not fit its index type.
#pragma once

#include <optional>

#include "strata/measure/peers.hpp"

namespace strata::internal {

template <Value V, Index I>
std::optional<Peer<V>> make_eigen_peer(const Csr<V, I>& matrix);
template <Value V, Index I>
std::optional<Peer<V>> make_librsb_peer(const Csr<V, I>& matrix);

}  // namespace strata::internal
