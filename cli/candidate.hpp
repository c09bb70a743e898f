// A way to compute powers, as the JSON of mpk and explain describes it.
#pragma once

#include <optional>
#include <string_view>

#include "cli/json.hpp"
#include "cli/power_formulas.hpp"
#include "cli/power_settings.hpp"
#include "strata/plans/power_plan.hpp"

namespace strata::cli {

// What a candidate belongs to.
struct CandidateContext {
  const PowerSettings& settings;
  Precision precision;
  int power = 1;
  Offset cache_bytes = 0;  // asked for; 0: the plan's choice
  std::string_view backend = "cpu";
  int threads = 1;                 // of the processor
  std::optional<int> device = {};  // the GPU; none on the processor
  double flops = 0;                // of one application
};

// The keys from "kernel" to "precision".
Json candidate_json(std::string_view kernel, const PowerCandidate& candidate,
                    const CandidateContext& context);
// "window_bytes" and "predicted".
void add_prediction(Json& result, const PowerCandidate& candidate, const CandidateContext& context,
                    const std::optional<PowerFormulas>& formulas = std::nullopt);

// Adds a result per candidate of a plan to the document, the choice first. Plans of all devices
// have the same functions.
template <class Plan>
void add_candidates(const Plan& plan, const CandidateContext& context, ResultDocument& document) {
  for (const PowerCandidate& candidate : plan.candidates()) {
    Json result = candidate_json("explain", candidate, context);
    result["chosen"] = &candidate == &plan.choice();
    result["setup_seconds"] = plan.setup_seconds();
    result["bytes"] = {{"format", candidate.format_bytes}, {"from_memory", candidate.memory_bytes}};
    if (plan.levels() > 0) result["levels"] = plan.levels();
    if (plan.break_even() > 0) result["break_even_applications"] = plan.break_even();
    if (candidate.measured_seconds > 0) result["measured_seconds"] = candidate.measured_seconds;
    add_prediction(result, candidate, context);
    document.add_result(result);
  }
}

}  // namespace strata::cli
