// Measures how fast a GPU is. Part of the GPU library.
#pragma once

#include <functional>
#include <string_view>

#include "strata/machine/gpu/profile.hpp"

namespace strata::gpu {

struct GpuMeasureOptions {
  int device = 0;
  // Of the device's memory; 0: well beyond the L2, and at most half of what is free.
  Offset bytes = 0;
  // Called with what comes next and the share of the work that is done. May throw to stop.
  std::function<void(std::string_view what, double share_done)> progress = {};
};

// Takes about a second, and more on a slow GPU; other work on it falsifies the profile. Leaves the
// calling thread with this device. Throws Unavailable if there is none of that number.
GpuProfile measure_gpu(const GpuMeasureOptions& options = {});

}  // namespace strata::gpu
