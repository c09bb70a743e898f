#include "strata/report/comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "strata/base/error.hpp"
#include "strata/bench/timing.hpp"

namespace strata::report {

namespace {

constexpr std::size_t kEnoughRuns = 3;  // for their medians to be the samples
constexpr double kChance = 0.05;        // that a difference is none

std::vector<double> medians_of(const std::vector<std::vector<double>>& runs) {
  std::vector<double> medians;
  for (const auto& run : runs) medians.push_back(summarise(run).median);
  return medians;
}

// What is compared of both sides. Over other libraries a run has one number.
struct Samples {
  std::vector<double> before;
  std::vector<double> after;
  bool sampled = true;
};

Samples samples_of(const TimedResult& before, const TimedResult& after, bool over_peers) {
  if (over_peers) {
    return {before.over_peers, after.over_peers,
            before.over_peers.size() >= kEnoughRuns && after.over_peers.size() >= kEnoughRuns};
  }
  if (before.runs.size() >= kEnoughRuns && after.runs.size() >= kEnoughRuns) {
    return {medians_of(before.runs), medians_of(after.runs)};
  }
  return {before.all_samples(), after.all_samples(), before.sampled && after.sampled};
}

ComparedCase compared(const TimedResult& before, const TimedResult& after, const Samples& samples) {
  ComparedCase result{.name = after.name,
                      .before = summarise(samples.before).median,
                      .after = summarise(samples.after).median,
                      .samples_before = static_cast<int>(samples.before.size()),
                      .samples_after = static_cast<int>(samples.after.size()),
                      .sampled = samples.sampled,
                      .wrong = after.wrong && !before.wrong};
  const double ratio = result.after / result.before;
  result.ratio = samples.sampled ? ratio_of_medians(samples.before, samples.after)
                                 : Interval{ratio, ratio, ratio};
  if (samples.sampled) result.probability = rank_test(samples.before, samples.after);
  return result;
}

Verdict verdict_of(const ComparedCase& each, double threshold) {
  if (each.wrong) return Verdict::regressed;
  if (!each.sampled) {
    if (each.ratio.middle > 1 + 2 * threshold) return Verdict::regressed;
    return each.ratio.middle < 1 / (1 + 2 * threshold) ? Verdict::faster : Verdict::same;
  }
  if (each.probability >= kChance) return Verdict::same;
  if (each.ratio.high < 1) return Verdict::faster;
  if (each.ratio.low <= 1) return Verdict::same;
  return each.ratio.low > 1 + threshold ? Verdict::regressed : Verdict::slower;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, 4> names{"same", "faster", "slower", "regressed"};
  return names[static_cast<std::size_t>(verdict)];
}

int Comparison::count(Verdict verdict) const {
  return static_cast<int>(std::ranges::count(cases, verdict, &ComparedCase::verdict));
}

Comparison compare(const std::vector<TimedResult>& before, const std::vector<TimedResult>& after,
                   const CompareOptions& options) {
  if (!(options.threshold >= 0) || !std::isfinite(options.threshold)) {
    throw InvalidArgument("a threshold is a share of time, not less than 0");
  }
  std::map<std::string_view, const TimedResult*> known;
  for (const TimedResult& each : before) known[each.name] = &each;
  Comparison result;
  std::vector<double> probabilities;
  for (const TimedResult& each : after) {
    const auto found = known.find(each.name);
    if (found == known.end()) {
      result.only_after.push_back(each.name);
      continue;
    }
    const Samples samples = samples_of(*found->second, each, options.over_peers);
    if (!samples.before.empty() && !samples.after.empty()) {
      result.cases.push_back(compared(*found->second, each, samples));
      probabilities.push_back(result.cases.back().probability);
    }
    known.erase(found);
  }
  for (const TimedResult& each : before) {
    if (known.contains(each.name)) result.only_before.push_back(each.name);
  }
  const std::vector<double> of_many = adjusted(probabilities);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < result.cases.size(); ++i) {
    ComparedCase& each = result.cases[i];
    each.probability = of_many[i];
    each.verdict = verdict_of(each, options.threshold);
    ratios.push_back(each.ratio.middle);
  }
  if (!ratios.empty()) result.mean = geometric_mean(ratios);
  std::ranges::stable_sort(result.cases, std::ranges::greater(),
                           [](const ComparedCase& each) { return each.ratio.middle; });
  return result;
}

}  // namespace strata::report
