// Contests on a GPU.
#pragma once

#include "strata/device/timing.hpp"
#include "strata/measure/contest.hpp"

namespace strata::gpu {

// The same contest by the clock of the device.
inline ContestOptions on_device(ContestOptions options, Stream& stream) {
  options.min_repetitions = kDeviceRepetitions;
  options.stopwatch = device_stopwatch(stream);
  return options;
}

}  // namespace strata::gpu
