// How long the ways to compute powers take on a GPU, by its profile.
#pragma once

#include "strata/base/types.hpp"
#include "strata/execute/gpu/persistent_sweep.hpp"
#include "strata/machine/gpu/profile.hpp"
#include "strata/plans/candidate.hpp"

namespace strata::gpu::detail {

// What all candidates of a plan in one order share.
struct PowersToPredict {
  int power = 1;
  double row_bytes = 0;   // an element of each vector
  double entries = 0;     // of the matrix
  double rows = 0;        // padding included
  double copy_bytes = 0;  // between the caller's order and the plan's
};

// They fill in what a candidate reads from memory and how long it takes. Its format's bytes and its
// powers per sweep are there. Where matrix and vectors stay in the L2 cache, everything runs at its
// speed.
void predict_plain(PowerCandidate& candidate, const PowersToPredict& powers,
                   const GpuProfile& profile);

// The placement of the window is there.
struct SweepToPredict {
  double tiles = 0;
  double workers = 1;
  double held_tiles = 1;
  double dependency_distance = 0;
  // Of sweeps in which values are flags:
  double warps = 0;         // of a worker and power
  double gather_bytes = 0;  // of x, for one power
};
void predict_sweeps(PowerCandidate& candidate, const PowersToPredict& powers,
                    const SweepToPredict& sweep, const GpuProfile& profile);

// The same where values are flags.
void predict_flagged(PowerCandidate& candidate, const PowersToPredict& powers,
                     const SweepToPredict& sweep, const GpuProfile& profile);

// One kernel per group and power. The window is there.
struct LevelsToPredict {
  Offset groups = 0;
  bool in_graph = false;
};
void predict_levels(PowerCandidate& candidate, const PowersToPredict& powers,
                    const LevelsToPredict& levels, const GpuProfile& profile);

// The L2 cache as it was measured, or else as the device says.
Offset l2_bytes_of(const GpuProfile& profile);

}  // namespace strata::gpu::detail
