// History: what is known of the cases of a campaign from earlier runs of it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "strata/campaign/record.hpp"

namespace strata::campaign {

// The last result of a case.
struct PastResult {
  Status status = Status::lost;
  int exit = 0;
  std::string reason;
  double seconds = 0;
};

class History {
 public:
  // Of two results of one case the later one counts.
  void add(const Record& record);

  // None if the case was never run on the host, or was lost.
  const PastResult* find(const std::string& case_key, const std::string& host) const;

 private:
  // By key and host. Neither has a character 0.
  std::unordered_map<std::string, PastResult> results_;
};

}  // namespace strata::campaign
