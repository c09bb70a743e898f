#include "strata/campaign/history.hpp"

namespace strata::campaign {

namespace {

std::string name_of(const std::string& case_key, const std::string& host) {
  return case_key + '\0' + host;
}

}  // namespace

void History::add(const Record& record) {
  // A case that was done once stays done if a later attempt is lost.
  if (!is_finished(record.outcome.status)) return;
  results_[name_of(record.case_key, record.host)] = {.status = record.outcome.status,
                                                     .exit = record.outcome.exit,
                                                     .reason = record.outcome.reason,
                                                     .seconds = record.outcome.seconds};
}

const PastResult* History::find(const std::string& case_key, const std::string& host) const {
  const auto found = results_.find(name_of(case_key, host));
  return found == results_.end() ? nullptr : &found->second;
}

}  // namespace strata::campaign
