// From measured points to the few numbers that a model needs.
#pragma once

#include <span>
#include <vector>

#include "strata/machine/profile.hpp"

namespace strata {

// The plateaus of one curve: points of one number of threads, by increasing working set. Throws
// InvalidArgument if there is no point.
std::vector<Plateau> find_plateaus(std::span<const BandwidthPoint> curve);

// Least squares of the relative errors, so that the short reads, which know the overhead, count as
// much as the long ones. Keeps the reads as its samples. Needs two of different size, or throws
// InvalidArgument.
HockneyFit fit_hockney(std::span<const TimedRead> reads);

}  // namespace strata
