// How long the ways to compute powers take on a GPU, from its facts.
#pragma once

#include "strata/base/types.hpp"
#include "strata/execute/gpu/persistent_sweep.hpp"
#include "strata/machine/gpu/profile.hpp"
#include "strata/plans/power_plan.hpp"

namespace strata::gpu::detail {

// What all candidates of a plan share.
struct PowersToPredict {
  int power = 1;
  double row_bytes = 0;  // an element of each vector
  double entries = 0;    // of the matrix
};

// They fill in what a candidate reads from memory and how long it takes. Its format's bytes and its
// powers per sweep are there.
void predict_plain(PowerCandidate& candidate, const PowersToPredict& powers, double rows,
                   const GpuProfile& profile);

struct SweepToPredict {
  WindowPlacement placement = WindowPlacement::l2;
  double rows = 0;
  double tiles = 0;
  double workers = 1;
  double held_tiles = 1;
  double dependency_distance = 0;
};
void predict_sweeps(PowerCandidate& candidate, const PowersToPredict& powers,
                    const SweepToPredict& sweep, const GpuProfile& profile);

// One kernel per group and power. The window is there.
struct LevelsToPredict {
  double rows = 0;
  Offset groups = 0;
  bool in_graph = false;
};
void predict_levels(PowerCandidate& candidate, const PowersToPredict& powers,
                    const LevelsToPredict& levels, const GpuProfile& profile);

// The L2 cache as it was measured, or else as the device says.
Offset l2_bytes_of(const GpuProfile& profile);

}  // namespace strata::gpu::detail
