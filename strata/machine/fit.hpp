// From measured points to the few numbers that a model needs.
#pragma once

#include <span>
#include <vector>

#include "strata/machine/profile.hpp"

namespace strata {

// The plateaus of one curve: points of one number of threads, by increasing working set. Throws
// InvalidArgument if there is no point.
std::vector<Plateau> find_plateaus(std::span<const BandwidthPoint> curve);

// A parallel read of `bytes`, from waking the threads until all are done.
struct TimedRead {
  Offset bytes = 0;
  double seconds = 0;
};

// Least squares of the relative errors, so that the short reads, which know the overhead, count as
// much as the long ones. Needs two reads of different size, or throws InvalidArgument.
HockneyFit fit_hockney(std::span<const TimedRead> reads);

}  // namespace strata
