// The power benchmark: plain products against blocked powers of the same matrix, timed in turn in
// one process and checked.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/matrix_source.hpp"
#include "cli/measuring.hpp"
#include "cli/power_settings.hpp"
#include "strata/plans/power_plan.hpp"

namespace strata::cli {

// One line of the benchmark.
struct PowerRun {
  PowerStrategy asked = PowerStrategy::automatic;  // the choice may be another
  int power = 1;
  Offset cache_bytes = 0;  // asked for; 0: the plan's choice
  PowerCandidate choice;
  int threads = 1;
  Offset levels = 0;
  double setup_seconds = 0;
  Measurement measurement;
  Offset minimum_bytes = 0;  // of one application: every value, x and every power once
  double speed_up = 1;       // over the fastest plain products
  double break_even = 0;     // applications until the set-up has paid off; 0: never
  std::optional<Overflow> overflow;

  bool plain() const { return choice.strategy == PowerStrategy::spmv; }
};

// Runs every combination of the settings; `done` gets the lines of one after another, plain
// products first.
void run_power_bench(const AnyMatrix& matrix, const PowerSettings& settings,
                     const MeasuringOptions& measuring, Progress& progress,
                     const std::function<void(const std::vector<PowerRun>&)>& done);

}  // namespace strata::cli
