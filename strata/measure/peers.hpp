// The peers that this build has. They are in the library strata_peers (strata::peers), so that
// nobody else has to link them; those of GPU vendors are declared in gpu/peers.hpp.
#pragma once

#include <string>
#include <vector>

#include "strata/formats/csr.hpp"
#include "strata/measure/peer.hpp"

namespace strata {

// The libraries for processors that this build has, each with its own copy of what it does not
// share with the matrix, which must outlive them. Those that cannot hold the matrix are left out or
// say why.
template <Value V, Index I>
std::vector<Peer<V>> make_peers(const Csr<V, I>& matrix);

// The libraries of this build, for messages; empty if there are none.
std::vector<std::string> peer_names();

}  // namespace strata
