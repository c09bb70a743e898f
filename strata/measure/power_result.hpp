// What the power benchmark finds out about one way to compute powers, and the JSON of it that
// docs/cli.md describes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/formats/any_matrix.hpp"
#include "strata/measure/contest.hpp"
#include "strata/measure/json.hpp"
#include "strata/measure/power_formulas.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/plan_options.hpp"
#include "strata/plans/power_plan.hpp"

namespace strata {

// What candidates of a plan belong to.
struct PowerContext {
  PowerOptions options;  // asked for; the choice may be another
  Precision precision = Precision::double_real;
  std::string backend = "cpu";     // or "cuda", "hip"; "vendor" for the library of the GPU's vendor
  int threads = 1;                 // of the processor
  std::optional<int> device = {};  // the GPU; none on the processor
  double flops = 0;                // of one application
};

struct PowerResult {
  PowerContext context;
  std::string library = {};  // of the vendor, with what it was asked for
  PowerCandidate choice = {};
  Offset levels = 0;
  double setup_seconds = 0;
  std::vector<PlanningPart> setup_parts = {};
  Measurement measurement = {};
  double memory_bandwidth = 0;              // bytes per second that the device reads
  std::optional<ValueStorage> values = {};  // of packed SELL
  Offset minimum_bytes = 0;  // of one application: every value as it is, x and every power once
  double speed_up = 1;       // over the fastest plain products; 0 where none ran
  double over_vendor = 0;    // over the vendor's library; 0 where it did not run
  double break_even = 0;     // applications until the set-up has paid off; 0: never
  std::optional<Overflow> overflow = {};
  std::optional<TaskTrace> trace = {};  // of a run that was not timed, where that was asked for
  std::optional<PowerFormulas> formulas = {};  // on GPUs
  std::string refusal = {};                    // why it was not timed

  int power() const { return context.options.power; }
  PowerStrategy asked() const { return context.options.strategy; }
  bool plain() const { return choice.plain(); }
  bool of_vendor() const { return context.backend == "vendor"; }
  // The plain products that others are compared with.
  bool baseline() const { return asked() == PowerStrategy::spmv && !of_vendor(); }
};

// The "kernel" is "mpk".
Json json_of(const PowerResult& result);

// What a plan says about each of its candidates, the choice first; the "kernel" is "explain".
std::vector<Json> candidates_json(const PlanRecord& record, const PowerContext& context);

// What a plan found that chose p, whose powers are those of the context's options; the "kernel" is
// "best-power".
Json best_power_json(const PlanRecord& record, const PowerContext& context);

}  // namespace strata
