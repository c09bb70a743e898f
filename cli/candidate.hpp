// A way to compute powers, as the JSON of mpk and explain describes it.
#pragma once

#include "cli/json.hpp"
#include "cli/power_settings.hpp"
#include "strata/plans/power_plan.hpp"

namespace strata::cli {

// What a candidate belongs to.
struct CandidateContext {
  const PowerSettings& settings;
  Precision precision;
  int power = 1;
  Offset cache_bytes = 0;  // asked for; 0: the plan's choice
  int threads = 1;
  double flops = 0;  // of one application
};

// The keys from "kernel" to "precision".
Json candidate_json(std::string_view kernel, const PowerCandidate& candidate,
                    const CandidateContext& context);
// "window_bytes" and "predicted".
void add_prediction(Json& result, const PowerCandidate& candidate, const CandidateContext& context);

}  // namespace strata::cli
