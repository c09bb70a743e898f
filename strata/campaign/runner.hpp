// Runs the open cases of a campaign, on all its hosts at the same time, and keeps every result as
// soon as it is there.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strata/campaign/campaign.hpp"
#include "strata/campaign/host.hpp"
#include "strata/campaign/record.hpp"
#include "strata/campaign/results_file.hpp"
#include "strata/campaign/selection.hpp"

namespace strata::campaign {

struct RunProgress {
  std::size_t finished = 0;  // of those that were open
  std::size_t total = 0;
  std::optional<double> seconds_left;  // none before the first is finished
  std::string running;                 // what runs on the host that reports
};

// All but `stop` are called by one thread at a time.
struct RunEvents {
  std::function<bool()> stop = {};  // true: end the running cases and come back
  std::function<void(const RunProgress&)> progress = {};
  std::function<void(const Record&)> finished = {};
};

struct LostHost {
  std::string name;
  std::string reason;
};

struct RunSummary {
  std::size_t finished = 0;  // of those that were open
  std::size_t open = 0;      // left: hosts were lost, or it was stopped
  bool stopped = false;
  std::vector<LostHost> lost_hosts;
};

// Throws FileError if a result cannot be written; those before it are kept.
RunSummary run_cases(const Campaign& campaign, const std::vector<SelectedCase>& selected,
                     const std::vector<std::unique_ptr<CaseHost>>& hosts, ResultsFile& results,
                     const RunEvents& events);

}  // namespace strata::campaign
