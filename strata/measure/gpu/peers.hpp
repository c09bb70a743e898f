// The products of the GPU vendor's library as peers.
#pragma once

#include "strata/measure/gpu/peer.hpp"

namespace strata::gpu {

// Every algorithm that the library has; none if this build has no such library. What the source
// refers to must outlive them. In strata_peers.
template <Value V, Index I>
std::vector<DevicePeer<V>> make_peers(const PeerSource<V, I>& source);

}  // namespace strata::gpu
