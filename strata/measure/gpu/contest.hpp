// Contests on a GPU.
#pragma once

#include "strata/device/timing.hpp"
#include "strata/measure/contest.hpp"

namespace strata::gpu {

// The same contest by the clock of the device. Kernels are short: more repetitions steady them.
inline ContestOptions on_device(ContestOptions options, Stream& stream) {
  constexpr int kMinRepetitions = 20;
  options.min_repetitions = kMinRepetitions;
  options.stopwatch = device_stopwatch(stream);
  return options;
}

}  // namespace strata::gpu
