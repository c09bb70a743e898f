// What a team of threads reaches and costs, apart from reading.
#pragma once

#include "strata/machine/facts.hpp"
#include "strata/machine/internal/team_memory.hpp"

namespace strata::detail {

// The three arrays of STREAM are the thirds of the memory.
StreamRates measure_stream(TeamMemory& memory, double seconds);

// Seconds of a parallel region that does nothing.
double measure_fork_join(int threads, double seconds);

// Seconds from a store by one thread until another one sees it; 0 if there is no other.
double measure_handoff();

}  // namespace strata::detail
