// GpuFacts: how fast a GPU reads, from memory and from its L2, and what launching and synchronising
// cost. Plans predict with them; measure.hpp finds them out and stored_facts.hpp remembers them.
//
// They belong to the library without GPU code: a plan can be predicted for a GPU that is elsewhere.
#pragma once

#include <string>
#include <vector>

#include "strata/device/device.hpp"
#include "strata/machine/facts.hpp"

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

struct GpuFacts {
  DeviceProperties device;
  // The whole device reads a working set again and again, in one kernel and past the first-level
  // caches. `threads` are those of the kernel.
  std::vector<BandwidthPoint> read;
  std::vector<Plateau> plateaus;  // fastest first; the last is memory
  BabelStreamRates stream;
  double launch_seconds = 0;      // of a kernel that does nothing, behind others like it
  double graph_node_seconds = 0;  // of such a kernel in a graph
  // The next two need kernels whose blocks are all resident; 0 if the device cannot do that.
  double barrier_seconds = 0;  // until all blocks, one per multiprocessor, have met
  double handoff_seconds = 0;  // until another multiprocessor sees a store: release to acquire
  RampUp ramp_up;              // of a kernel that reads Q bytes from memory, behind others like it
  std::string measured_at;     // ISO 8601, UTC
  double measuring_seconds = 0;

  // Interpolated in the logarithm of the working set; beyond what was measured the nearest figure
  // holds.
  double read_bandwidth(Offset working_set) const;
  double memory_bandwidth() const;
  // Of the fastest plateau; that of memory if there is no other.
  double l2_bandwidth() const;
  // The largest working set that reads clearly faster than memory; 0 if there is none.
  Offset l2_bytes() const;

  bool operator==(const GpuFacts&) const = default;
};

}  // namespace strata::gpu
