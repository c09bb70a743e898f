// The line on standard error that says how far a campaign is, and how long it will take.
#pragma once

#include <chrono>
#include <string>

#include "strata/campaign/runner.hpp"

namespace strata::cli {

// Shows nothing unless standard error is a terminal.
class CampaignProgress {
 public:
  explicit CampaignProgress(bool quiet);
  ~CampaignProgress() { clear(); }
  CampaignProgress(const CampaignProgress&) = delete;
  CampaignProgress& operator=(const CampaignProgress&) = delete;

  void show(const campaign::RunProgress& progress);

 private:
  void clear();

  bool visible_;
  std::string running_;
  std::chrono::steady_clock::time_point drawn_;
};

// "3 of 40, 2 min left, spmv stencil5:9x9", without line breaks and control characters.
std::string campaign_progress_text(const campaign::RunProgress& progress);
// "45 s", "3 min", "2.5 h", "1.2 d".
std::string duration_text(double seconds);

}  // namespace strata::cli
