// What people read about a campaign: the list of its cases, and what became of them.
#pragma once

#include <string>
#include <vector>

#include "strata/campaign/runner.hpp"
#include "strata/campaign/selection.hpp"
#include "strata/measure/json.hpp"

namespace strata::cli {

// A case that was selected, and what became of it: in this run, before, or not yet.
struct CaseReport {
  std::string key;
  std::string host;  // empty: none yet
  std::string matrix;
  campaign::PastResult result = {};
  bool known = false;   // there is a result
  bool before = false;  // from an earlier run

  bool failed() const { return known && result.status != campaign::Status::done; }
  // A wrong result, as opposed to none.
  bool not_valid() const { return failed() && result.exit == 1; }
};

// Every case with its number and whether it is open.
std::string list_text(const campaign::Campaign& campaign,
                      const std::vector<campaign::SelectedCase>& selected);
// How many were done, now and before, which failed and why, and which hosts were lost.
std::string summary_text(const std::string& name, const std::string& results,
                         const std::vector<CaseReport>& reports,
                         const std::vector<campaign::LostHost>& lost);
Json json_of(const CaseReport& report);

// On one line and without control characters, for names may have any.
std::string printable(const std::string& text);

}  // namespace strata::cli
