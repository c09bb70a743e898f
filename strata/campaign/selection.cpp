#include "strata/campaign/selection.hpp"

#include <fnmatch.h>

namespace strata::campaign {

namespace {

class Pattern {
 public:
  explicit Pattern(const std::string& text) : glob_(text) {
    if (text.find_first_of("*?[") == std::string::npos) glob_ = "*" + text + "*";
  }
  bool matches(const std::string& text) const {
    return ::fnmatch(glob_.c_str(), text.c_str(), 0) == 0;
  }

 private:
  std::string glob_;
};

// With hosts that share cases, one that succeeded anywhere is done.
const PastResult* past_of(const std::string& key, const std::vector<std::string>& hosts,
                          const History& history) {
  const PastResult* past = nullptr;
  for (const std::string& host : hosts) {
    const PastResult* const found = history.find(key, host);
    if (found == nullptr) continue;
    if (past == nullptr || found->status == Status::done) past = found;
  }
  return past;
}

}  // namespace

std::vector<SelectedCase> select_cases(const Campaign& campaign,
                                       const std::vector<std::string>& hosts,
                                       const History& history, const Selection& selection) {
  const Pattern pattern(selection.only);
  std::vector<SelectedCase> selected;
  const auto consider = [&](std::size_t index, const std::string& key, const std::string& host,
                            const PastResult* past) {
    if (!pattern.matches(key) && !pattern.matches(campaign.cases[index].matrix) &&
        (host.empty() || !pattern.matches(host))) {
      return;
    }
    const bool finished =
        past != nullptr && (past->status == Status::done || !selection.retry_failed);
    selected.push_back(
        {.index = index, .host = host, .open = !finished, .past = finished ? *past : PastResult{}});
  };
  for (std::size_t index = 0; index < campaign.cases.size(); ++index) {
    if (index + 1 < selection.first || index + 1 > selection.last) continue;
    const std::string key = campaign.cases[index].key();
    if (campaign.share) {
      consider(index, key, "", past_of(key, hosts, history));
      continue;
    }
    for (const std::string& host : hosts) consider(index, key, host, history.find(key, host));
  }
  return selected;
}

}  // namespace strata::campaign
