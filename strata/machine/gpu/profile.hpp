// GpuProfile: how fast a GPU reads, from memory and from its L2, and what launching and
// synchronising cost. Plans predict with it; measure.hpp measures it and cached_profile.hpp stores
// it.
//
// It belongs to the library without GPU code: a plan can be predicted for the GPU of another
// machine.
#pragma once

#include <string>
#include <vector>

#include "strata/device/device.hpp"
#include "strata/machine/profile.hpp"

namespace strata::gpu {

// Bytes per second of BabelStream's kernels (Deakin, Price, Martineau, McIntosh-Smith: Evaluating
// attainable memory bandwidth of parallel programming models via BabelStream, 2018) in double
// precision, counted as it does, and of reading alone.
struct BabelStreamRates {
  double copy = 0;         // c = a
  double mul = 0;          // b = factor·c
  double add = 0;          // c = a + b
  double triad = 0;        // a = b + factor·c
  double dot = 0;          // a·b
  double read = 0;         // of one array
  Offset array_bytes = 0;  // of each array; several times the L2

  bool operator==(const BabelStreamRates&) const = default;
};

struct GpuProfile {
  DeviceProperties device;
  // The whole device reads a working set again and again, in one kernel and past the first-level
  // caches. `threads` are those of the kernel.
  std::vector<BandwidthPoint> read;
  std::vector<Plateau> plateaus;  // the L2 cache, if there is one, and memory: see plateaus_of()
  BabelStreamRates stream;
  double launch_seconds = 0;      // of a kernel that does nothing, behind others like it
  double graph_node_seconds = 0;  // of such a kernel in a graph
  // The next two need kernels whose blocks are all resident; 0 if the device cannot do that.
  double barrier_seconds = 0;  // until all blocks, one per multiprocessor, have met
  double handoff_seconds = 0;  // until another multiprocessor sees a store: release to acquire
  HockneyFit hockney;          // of a kernel that reads Q bytes from memory, behind others like it
  std::string measured_at;     // ISO 8601, UTC
  double measuring_seconds = 0;

  // Interpolated in the logarithm of the working set; beyond what was measured the nearest figure
  // holds.
  double read_bandwidth(Offset working_set) const;
  double memory_bandwidth() const;
  // That of memory if there is no L2 cache.
  double l2_bandwidth() const;
  Offset l2_bytes() const;  // as far as its bandwidth goes; 0 if there is none

  bool operator==(const GpuProfile&) const = default;
};

// What plans count on: the bandwidth of a working set of half the L2 cache, as far as sets read at
// nine tenths of it, and that of memory. The curve itself has neither: it begins with sets that
// parts of the L2 hold, and at several times the L2 some of a set is still there.
std::vector<Plateau> plateaus_of(const std::vector<BandwidthPoint>& read, Offset l2_bytes,
                                 double memory_bandwidth);

}  // namespace strata::gpu
