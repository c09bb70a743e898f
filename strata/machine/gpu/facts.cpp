#include "strata/machine/gpu/facts.hpp"

namespace strata::gpu {

double GpuFacts::read_bandwidth(Offset working_set) const {
  return read.empty() ? 0 : bandwidth_on(read, working_set);
}

double GpuFacts::memory_bandwidth() const {
  return plateaus.empty() ? 0 : plateaus.back().bytes_per_second;
}

double GpuFacts::l2_bandwidth() const {
  return plateaus.empty() ? 0 : plateaus.front().bytes_per_second;
}

Offset GpuFacts::l2_bytes() const {
  return plateaus.size() < 2 ? 0 : plateaus[plateaus.size() - 2].bytes;
}

}  // namespace strata::gpu
