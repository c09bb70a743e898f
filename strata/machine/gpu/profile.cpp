#include "strata/machine/gpu/profile.hpp"

#include <algorithm>

namespace strata::gpu {

double GpuProfile::read_bandwidth(Offset working_set) const {
  return read.empty() ? 0 : bandwidth_on(read, working_set);
}

double GpuProfile::memory_bandwidth() const {
  return plateaus.empty() ? 0 : plateaus.back().bytes_per_second;
}

double GpuProfile::l2_bandwidth() const {
  return plateaus.empty() ? 0 : plateaus.front().bytes_per_second;
}

Offset GpuProfile::l2_bytes() const {
  return plateaus.size() < 2 ? 0 : plateaus[plateaus.size() - 2].bytes;
}

std::vector<Plateau> plateaus_of(const std::vector<BandwidthPoint>& read, Offset l2_bytes,
                                 double memory_bandwidth) {
  std::vector<Plateau> plateaus;
  if (read.empty()) return plateaus;
  const double in_l2 = bandwidth_on(read, l2_bytes / 2);
  Offset end = 0;
  for (const BandwidthPoint& point : read) {
    if (point.bytes <= l2_bytes && point.bytes_per_second >= 0.9 * in_l2) {
      end = std::max(end, point.bytes);
    }
  }
  const Offset largest = read.back().bytes;
  // Where no set leaves the cache, it cannot be distinguished from memory.
  if (end > 0 && end < largest && in_l2 > memory_bandwidth) {
    plateaus.push_back({read.front().threads, end, in_l2});
  }
  plateaus.push_back({read.front().threads, largest, memory_bandwidth});
  return plateaus;
}

}  // namespace strata::gpu
