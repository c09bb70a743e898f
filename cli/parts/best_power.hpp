// What plans found that chose p (-p best): speed over p, drawn with bars.
#pragma once

#include <string>

#include "cli/parts/document.hpp"
#include "strata/measure/power_result.hpp"

namespace strata::cli {

// Adds the result and returns the picture with the reason; the context is that of the powers that
// the plan has.
std::string show_best_power(const PlanRecord& record, const PowerContext& context,
                            ResultDocument& document);

// Only the picture: a line per p with the GF/s of the model and, where they were timed, of the
// timing.
std::string speeds_text(const PlanRecord& record, double flops_of_a_product);

}  // namespace strata::cli
