// Plans on ranks, for what is written on solvers/internal/planner.hpp: solvers of the ranks are
// those of one process on these plans, with vectors of which every rank has the elements of its
// rows.
#pragma once

#include <memory>

#include "strata/distributed/communicator.hpp"
#include "strata/distributed/matrix.hpp"
#include "strata/distributed/network.hpp"
#include "strata/solvers/internal/planner.hpp"
#include "strata/solvers/processor_space.hpp"

namespace strata::distributed::detail {

// Whether to stop, as ranks agree on it without a message of their own: with every sum over all
// ranks goes who wants to, and all hear of it at once.
struct Stop {
  bool wanted = false;  // by this rank
  bool agreed = false;  // by all, because one of them wanted to
};

// What plans on ranks take besides the options of solvers.
struct RankPlans {
  int threads = 0;  // of a rank; 0: as many as Communicator::threads_per_rank
  int depth = 0;    // as DistributedPowerOptions has it
  const Network* network = nullptr;
  std::shared_ptr<Stop> stop = std::make_shared<Stop>();
};

// Everything is collective. The communicator must outlive plans, the matrix the planner.
template <Value V, Index I>
std::unique_ptr<solvers::detail::SystemPlanner<solvers::ProcessorSpace<V>>> rank_planner(
    const Communicator& ranks, const DistributedMatrix<V, I>& matrix, const RankPlans& plans);

}  // namespace strata::distributed::detail
