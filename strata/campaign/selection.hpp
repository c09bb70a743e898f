// Which cases of a campaign are to run on which host, and which are finished already.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "strata/campaign/campaign.hpp"
#include "strata/campaign/history.hpp"

namespace strata::campaign {

struct Selection {
  std::string only = {};  // a glob on the key, the matrix or the host; without *, ? and [ a part
  std::size_t first = 1;  // cases by their number in the list, both included
  std::size_t last = std::numeric_limits<std::size_t>::max();
  bool retry_failed = false;  // those that failed before are open
};

struct SelectedCase {
  std::size_t index = 0;  // in Campaign::cases
  std::string host;       // empty: whichever host comes first (Campaign::share)
  bool open = true;       // to be run
  PastResult past = {};   // what is known, if it is not open
};

// In the order of the campaign, for every case the hosts in their order.
std::vector<SelectedCase> select_cases(const Campaign& campaign,
                                       const std::vector<std::string>& hosts,
                                       const History& history, const Selection& selection);

}  // namespace strata::campaign
