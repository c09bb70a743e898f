// What the power benchmark does on every device and for all types: who takes part, timing in turn,
// and speed-ups. Contenders hide their types behind functions.
#pragma once

#include <functional>
#include <optional>

#include "strata/measure/power_contest.hpp"

namespace strata::internal {

struct ExaminedPowers {
  std::optional<Check> check;
  std::optional<Overflow> overflow;
};

// A way to compute powers, ready to run.
struct PowerContender {
  PowerResult result;
  std::function<void()> run = {};  // computes all powers; none if it was refused
  ContestVectors vectors = {};
  // Examines what the last run computed, and compares it with the reference on request.
  std::function<ExaminedPowers(bool validate)> examine = {};
  // A run that says what threads did when; none where that is not known.
  std::function<TaskTrace()> trace = {};
  // Plain products on the matrix as this plan has ordered it.
  std::function<PowerContender()> plain_in_this_order = {};
};

struct PowerDevice {
  // Plans and prepares. None: the vendor's library runs alone.
  std::function<PowerContender(const PowerOptions& options)> plan = {};
  // The vendor's library, where it is compared with.
  std::function<PowerContender(int power)> library = {};
  PowerWork work = {};                   // of one application; the contest adds the power
  const gpu::GpuProfile* gpu = nullptr;  // for the formulas
};

void hold_power_contest(const PowerDevice& device, const PowerSweep& sweep,
                        const ContestOptions& options, const PowerResultsDone& done);

}  // namespace strata::internal
