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
  bool averaged = false;
};

// Whether so many samples of each side could show a difference: the chance that all of one side are
// smaller by chance, 2 / binomial(first + second, first), has to be small enough.
bool could_differ(std::size_t first, std::size_t second) {
  double chance = 2;
  for (std::size_t i = 1; i <= first; ++i) {
    chance *= static_cast<double>(i) / static_cast<double>(second + i);
  }
  return chance < kChance;
}

Samples samples_of(const TimedResult& before, const TimedResult& after, bool over_peers) {
  Samples samples;
  if (over_peers) {
    samples = {before.over_peers, after.over_peers,
               before.over_peers.size() >= kEnoughRuns && after.over_peers.size() >= kEnoughRuns};
  } else if (before.runs.size() >= kEnoughRuns && after.runs.size() >= kEnoughRuns) {
    samples = {medians_of(before.runs), medians_of(after.runs)};
  } else {
    samples = {before.all_samples(), after.all_samples(), before.sampled && after.sampled};
  }
  samples.sampled = samples.sampled && could_differ(samples.before.size(), samples.after.size());
  samples.averaged = !over_peers && before.averaged && after.averaged;
  return samples;
}

ComparedCase compared(const TimedResult& before, const TimedResult& after, const Samples& samples) {
  ComparedCase result{.name = after.name,
                      .before = summarise(samples.before).median,
                      .after = summarise(samples.after).median,
                      .samples_before = static_cast<int>(samples.before.size()),
                      .samples_after = static_cast<int>(samples.after.size()),
                      .sampled = samples.sampled,
                      .noise = samples.averaged && !samples.sampled ? kAssumedNoise : 0,
                      .wrong = after.wrong && !before.wrong};
  if (before.counted == after.counted) {
    result.counted = after.counted;
    result.count_before = before.count;
    result.count_after = after.count;
  }
  const double ratio = result.after / result.before;
  result.ratio = samples.sampled
                     ? ratio_of_medians(samples.before, samples.after)
                     : Interval{ratio / (1 + result.noise), ratio, ratio * (1 + result.noise)};
  if (samples.sampled) result.probability = rank_test(samples.before, samples.after);
  return result;
}

Verdict verdict_of(const ComparedCase& each, double threshold) {
  if (each.wrong) return Verdict::regressed;
  if (!each.sampled && each.noise == 0) {
    if (each.ratio.middle > 1 + 2 * threshold) return Verdict::regressed;
    return each.ratio.middle < 1 / (1 + 2 * threshold) ? Verdict::faster : Verdict::same;
  }
  if (each.sampled && each.probability >= kChance) return Verdict::same;
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

int Comparison::other_counts() const {
  return static_cast<int>(
      std::ranges::count_if(cases, [](const ComparedCase& each) { return each.count_changed(); }));
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
