// The finite element study on a GPU: the counterpart of solve in fem/study.hpp, with everything but
// the first guess and the solution on the device.
#pragma once

#include <span>

#include "strata/device/stream.hpp"
#include "strata/fem/study.hpp"

namespace strata::gpu {

// The time is that of the device; products are timed by themselves, after the solution.
fem::FemSolution solve(const fem::FemSystem& system, fem::MatrixForm form, std::span<double> u,
                       const solvers::SolveOptions& options, Stream& stream);

}  // namespace strata::gpu
