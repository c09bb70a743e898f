// Rates and costs of a team of threads, apart from reading. The best sample counts: other work on
// the machine only ever makes them slower.
#pragma once

#include "strata/machine/internal/team_memory.hpp"
#include "strata/machine/profile.hpp"

namespace strata::detail {

// The three arrays of STREAM are the thirds of the memory.
StreamRates measure_stream(TeamMemory& memory, double seconds);

// Multiplications and additions of double precision per second, all threads together.
double measure_flops(int threads, double seconds);

// Seconds of a parallel region that does nothing.
double measure_fork_join(int threads, double seconds);

// Seconds from a store by the first thread until the last one sees it; 0 if there is one only.
double measure_handoff(int threads);

}  // namespace strata::detail
