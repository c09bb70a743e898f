// The words of plans about themselves: the one place where decisions become text.
#pragma once

#include <string>

#include "strata/base/types.hpp"
#include "strata/plans/candidate.hpp"

namespace strata::detail {

// "1.25 GB", "1.3 ms", "wavefront 4+3, 2 bands"
std::string bytes_text(double bytes);
std::string time_text(double seconds);
std::string method_text(const PowerCandidate& candidate, int power);

// What is planned, and where it runs.
struct Subject {
  std::string task;     // "4 powers (monomial)", "The product"
  int power = 1;        // of the task
  Offset rows = 0;      // of the matrix
  Offset entries = 0;   // of the matrix
  int vectors = 1;      //
  std::string device;   // "2 threads", "on NVIDIA H200"
  std::string machine;  // a sentence about its speed
};

std::string explain(const PlanRecord& record, const Subject& subject);

}  // namespace strata::detail
