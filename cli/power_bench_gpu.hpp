// The power benchmark on a GPU: plans of the GPU and repeated products of its vendor's library.
// Matrices and vectors stay on it; its own clock tells the time.
#pragma once

#include "cli/power_bench.hpp"
#include "strata/machine/gpu/profile.hpp"

namespace strata::cli {

struct GpuPowerContest {
  bool plans = true;   // Strata's own
  bool vendor = true;  // the fastest product of the vendor's library, repeated
};

// On the GPU of the facts, which the calling thread uses from then on. The vendor's line says why
// if it was not timed; if nothing else runs, that is thrown.
void run_gpu_power_bench(const AnyMatrix& matrix, const PowerSettings& settings,
                         const GpuPowerContest& contest, const gpu::GpuProfile& profile,
                         const MeasuringOptions& measuring, Progress& progress,
                         const PowerRunsDone& done);

}  // namespace strata::cli
