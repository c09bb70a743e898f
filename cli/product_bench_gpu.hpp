// The products of product_bench.hpp on a GPU. Matrices and vectors stay on it; its own clock tells
// the time.
#pragma once

#include <functional>
#include <vector>

#include "cli/product_bench.hpp"
#include "strata/machine/gpu/profile.hpp"

namespace strata::cli {

struct GpuProductSettings {
  std::vector<FormatSummary> formats;  // those with kernels on GPUs count
  bool vendor = true;                  // the library of the GPU's vendor, where this build has it
};

// On the GPU of the facts, which the calling thread uses from then on. `done` gets
// all lines together, those of the vendor's library last. What refuses the matrix or does not fit
// the memory that the others leave comes without a timing, with the reason; if nothing is left to
// time for want of memory, that is thrown.
void run_gpu_product_bench(const AnyMatrix& matrix, const GpuProductSettings& settings,
                           const gpu::GpuProfile& profile, const MeasuringOptions& measuring,
                           Progress& progress, const std::function<void(const ProductRun&)>& done);

}  // namespace strata::cli
