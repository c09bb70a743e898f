// All of Strata, with what needs MPI (strata::mpi in CMake):
//
//   #include <strata/mpi.hpp>
//
//   const strata::distributed::Communicator world(MPI_COMM_WORLD);   // after MPI_Init
//   const auto A = strata::distributed::generate_distributed<double, std::int32_t>(
//       world, "stencil7:256x256x256");
//   const strata::distributed::DistributedProduct<double> product(world, A);
#pragma once

#include "strata/strata.hpp"

// Ranks, and which rows and elements they have.
#include "strata/distributed/communicator.hpp"
#include "strata/distributed/graph_partition.hpp"
#include "strata/distributed/matrix.hpp"
#include "strata/distributed/partition.hpp"

// What they send each other, and what that costs.
#include "strata/distributed/halo.hpp"
#include "strata/distributed/network.hpp"

// Plans over ranks.
#include "strata/distributed/powers.hpp"
#include "strata/distributed/product.hpp"

// Methods over ranks.
#include "strata/distributed/eigen_solver.hpp"
#include "strata/distributed/exponential.hpp"
#include "strata/distributed/linear_solver.hpp"
