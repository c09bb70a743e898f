// Measures how fast the machine is.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "strata/base/processors.hpp"
#include "strata/machine/profile.hpp"

namespace strata {

struct MeasureOptions {
  // Roughly how long it may take. Below 3 there are fewer points, each measured once; filling the
  // memory takes its time in any case.
  double seconds = 10;
  int threads = 0;              // the most to measure with; 0: as many as run at once
  Offset largest_bytes = 0;     // largest working set; 0: well beyond the last-level caches
  double largest_spread = 1.5;  // beyond it the machine was too busy, see conditions below
  // Called with what comes next and the share of the work that is done. May throw to stop.
  std::function<void(std::string_view what, double share_done)> progress = {};
};

// The part of the profile that needs no measurement: processor, fingerprint, cores, caches.
// `threads` as above.
MachineProfile reported_profile(int threads = 0);

MachineProfile measure_machine(const MeasureOptions& options = {});

// The conditions of a measurement.
struct MeasuringConditions {
  int threads = 0;  // asked for
  ProcessorBudget processors;
  bool bound = false;         // threads were kept on some of the processors
  double largest_spread = 0;  // beyond it the machine was too busy
};
// Those of a measurement with these options in this process.
MeasuringConditions measuring_conditions(const MeasureOptions& options);

// Why a profile that was measured under these conditions may describe the moment more than the
// machine, so that it is used but not stored; empty if nothing speaks against it.
std::string doubts_about(const MachineProfile& profile, const MeasuringConditions& conditions);

}  // namespace strata
