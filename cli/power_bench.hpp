// The power benchmark: plain products against blocked powers of the same matrix, timed in turn in
// one process and checked.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/matrix_source.hpp"
#include "cli/measuring.hpp"
#include "cli/power_formulas.hpp"
#include "cli/power_settings.hpp"
#include "strata/plans/power_plan.hpp"

namespace strata::cli {

// One line of the benchmark.
struct PowerRun {
  std::string backend = "cpu";                     // or "cuda", "hip", "vendor"
  std::string library = {};                        // of the vendor, with what it was asked for
  PowerStrategy asked = PowerStrategy::automatic;  // the choice may be another
  int power = 1;
  Offset cache_bytes = 0;  // asked for; 0: the plan's choice
  PowerCandidate choice;
  int threads = 1;                 // of the processor
  std::optional<int> device = {};  // the GPU; none on the processor
  Offset levels = 0;
  double setup_seconds = 0;
  Measurement measurement;
  double memory_bandwidth = 0;  // bytes per second that the device reads
  Offset minimum_bytes = 0;     // of one application: every value, x and every power once
  double speed_up = 1;          // over the fastest plain products; 0 where none ran
  double over_vendor = 0;       // over the vendor's library; 0 where it did not run
  double break_even = 0;        // applications until the set-up has paid off; 0: never
  std::optional<Overflow> overflow;
  std::optional<PowerFormulas> formulas;  // on GPUs
  std::string refusal = {};               // why it was not timed

  bool plain() const { return choice.strategy == PowerStrategy::spmv; }
  bool of_vendor() const { return backend == "vendor"; }
  // The plain products that others are compared with.
  bool baseline() const { return asked == PowerStrategy::spmv && !of_vendor(); }
};

// `done` gets the lines of one combination of the settings, plain products first.
using PowerRunsDone = std::function<void(const std::vector<PowerRun>&)>;

// Runs every combination of the settings on the processor.
void run_power_bench(const AnyMatrix& matrix, const PowerSettings& settings,
                     const MachineProfile& profile, const MeasuringOptions& measuring,
                     Progress& progress, const PowerRunsDone& done);

}  // namespace strata::cli
