// Timing of work in a stream, by events around it: what the host does meanwhile does not count.
#pragma once

#include "strata/bench/timing.hpp"
#include "strata/device/stream.hpp"

namespace strata::gpu {

// For time_runs and time_interleaved: runs put their work into this stream, and need not wait for
// it. The stream must outlive the stopwatch.
Stopwatch device_stopwatch(Stream& stream);

// Samples of what is compared. Kernels are short: more repetitions than on processors steady them.
inline constexpr int kDeviceRepetitions = 20;

}  // namespace strata::gpu
