// MPI as the command starts and ends it. Only in builds that have it.
#pragma once

#include <string>
#include <vector>

#include "cli/parts/exit_status.hpp"
#include "strata/distributed/communicator.hpp"

namespace strata::cli::distributed {

using strata::distributed::Communicator;

void start_world(const std::vector<std::string>& words);
bool world_started();
// All ranks. It was started.
const Communicator& world();

// As leave_ranks. MPI itself ends with the process.
int end_world(ExitStatus status, const std::string& message);

}  // namespace strata::cli::distributed
