// The facts of the GPUs here: stored ones, or measured now. Part of the GPU library.
#pragma once

#include <filesystem>
#include <string>

#include "strata/machine/gpu/measure.hpp"
#include "strata/machine/gpu/profile.hpp"

namespace strata::gpu {

struct CachedGpuProfile {
  GpuProfile profile;
  std::string remark = {};  // what was wrong with the stored facts or with storing them
  bool measured = false;    // just now, rather than loaded
  bool stored = false;      // so that the next process finds them
};

// The stored facts; if there are none, or useless ones, measures and stores. Facts of another
// device or driver are useless. A folder that cannot be read or written, or that is not the user's
// own, costs time, not results.
CachedGpuProfile load_or_measure(const std::filesystem::path& path,
                                 const GpuMeasureOptions& options);
// Measures and stores, whatever is stored already.
CachedGpuProfile measure_again(const std::filesystem::path& path, const GpuMeasureOptions& options);

// The facts that plans use: found once per process and device. Throws Unavailable if there is no
// device of that number.
const CachedGpuProfile& cached_gpu_profile(int device = 0);

}  // namespace strata::gpu
