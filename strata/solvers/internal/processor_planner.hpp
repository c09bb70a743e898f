// Plans on processors, for what is written on planner.hpp.
#pragma once

#include "strata/formats/csr.hpp"
#include "strata/solvers/internal/planner.hpp"
#include "strata/solvers/processor_space.hpp"

namespace strata::solvers::detail {

// The matrix must outlive it; threads as plans have them.
template <Value V, Index I>
std::unique_ptr<SystemPlanner<ProcessorSpace<V>>> processor_planner(const Csr<V, I>& matrix,
                                                                    int threads);

}  // namespace strata::solvers::detail
