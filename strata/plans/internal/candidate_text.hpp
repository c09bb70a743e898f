// The words of plans about their candidates.
#pragma once

#include <span>
#include <string>

#include "strata/plans/power_plan.hpp"

namespace strata::detail {

// "1.25 GB", "1.3 ms", "wavefront 4+3, 2 bands"
std::string bytes_text(double bytes);
std::string time_text(double seconds);
std::string method_text(const PowerCandidate& candidate, int power);

// " instead of 3.00 GB: 1.50 times as fast as plain products (timed)"
std::string gain_text(const PowerCandidate& plain, const PowerCandidate& best);

// A line per candidate, with a heading.
std::string candidate_table(std::span<const PowerCandidate> candidates, int power);

}  // namespace strata::detail
