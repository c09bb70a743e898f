// The network between ranks, measured: latency and bandwidth of messages inside a node and between
// nodes by ping-pongs, and reductions over all ranks. What is done with the figures is in
// model/network.hpp.
#pragma once

#include "strata/distributed/communicator.hpp"
#include "strata/model/network.hpp"

namespace strata::distributed {

using strata::MessageCost;
using strata::Network;

// Collective; takes about `seconds`, and returns the same on all ranks. One pair of ranks at a time
// sends messages of sizes from none to some megabytes there and back: the first two ranks of the
// fullest node, and the first ranks of the first two nodes. With one rank nothing is known.
Network measure_network(const Communicator& ranks, double seconds = 0.2);

// Collective: returns when all ranks are here. Those that wait leave the processors to the others.
void meet(const Communicator& ranks);

}  // namespace strata::distributed
