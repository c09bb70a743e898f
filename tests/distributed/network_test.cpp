#include "strata/distributed/network.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace strata::distributed {
namespace {

TEST(MeasuredNetwork, HasTheSamePositiveNumbersOnAllRanks) {
  const Communicator world(MPI_COMM_WORLD);
  const Network network = measure_network(world, 0.05);
  EXPECT_EQ(network.ranks, world.size());
  for (const Network& other : world.gather_all(network)) EXPECT_EQ(other, network);
  if (world.size() == 1) {
    EXPECT_FALSE(network.in_node.known());
    EXPECT_FALSE(network.between_nodes.known());
    EXPECT_EQ(network.reduction_seconds, 0);
    return;
  }
  EXPECT_EQ(network.in_node.known(), world.max<Offset>(world.ranks_on_node()) > 1);
  EXPECT_EQ(network.between_nodes.known(), world.ranks_on_node() < world.size());
  EXPECT_GT(network.farthest().latency, 0);
  EXPECT_LT(network.farthest().latency, 1);
  EXPECT_GE(network.farthest().seconds_per_byte, 0);
  EXPECT_GT(network.reduction_seconds, 0);
  EXPECT_GT(network.reduction(2 * world.size()), network.reduction(world.size()));
}

}  // namespace
}  // namespace strata::distributed
