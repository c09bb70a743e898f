// PartTimer: what the parts of planning take, for the record of a plan.
#pragma once

#include <string>

#include "strata/plans/candidate.hpp"

namespace strata::detail {

// From here to the end of the scope. One at a time: a part has no parts. Parts of the same name and
// subject are one.
class PartTimer {
 public:
  // The record must outlive it.
  PartTimer(PlanRecord& record, PlanningPart::Kind kind, std::string subject = {});
  ~PartTimer();
  PartTimer(const PartTimer&) = delete;
  PartTimer& operator=(const PartTimer&) = delete;

 private:
  PlanRecord& record_;
  PlanningPart part_;
  double started_;
};

// "values as flags, shared memory, rows given"
std::string subject_of(const PowerCandidate& candidate);

}  // namespace strata::detail
