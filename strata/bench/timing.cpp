#include "strata/bench/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "strata/base/error.hpp"

namespace strata {

namespace {

using Run = std::function<void()>;

constexpr double kLongForAnyTiming = 1;  // seconds

double host_seconds_of(const Run& run, int times) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Warms up and finds how many runs make a sample.
int runs_per_sample(const Run& run, int warm_up, const Stopwatch& stopwatch) {
  // A first run this long is no short one, however cold it was.
  const double surely_long = 100 * stopwatch.shortest_sample;
  if (warm_up > 0 && stopwatch.seconds_of(run, warm_up) >= warm_up * surely_long) return 1;
  int runs = 1;
  while (stopwatch.seconds_of(run, runs) < stopwatch.shortest_sample && runs < (1 << 20)) runs *= 2;
  return runs;
}

}  // namespace

Timing summarise(std::span<const double> seconds) {
  if (seconds.empty()) return {};
  const std::size_t step = (seconds.size() + kMostKept - 1) / kMostKept;
  std::vector<double> kept;
  for (std::size_t i = 0; i < seconds.size(); i += step) kept.push_back(seconds[i]);
  std::vector<double> sorted(seconds.begin(), seconds.end());
  std::ranges::sort(sorted);
  const std::size_t count = sorted.size();
  const auto rank = static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(count)));
  return {.median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2,
          .minimum = sorted.front(),
          .p95 = sorted[rank - 1],
          .repetitions = static_cast<int>(count),
          .kept = std::move(kept)};
}

const Stopwatch& host_stopwatch() {
  // The clock ticks in tens of nanoseconds.
  static const Stopwatch stopwatch{.seconds_of = host_seconds_of, .shortest_sample = 20e-6};
  return stopwatch;
}

Timing time_runs(const Run& run, const TimingOptions& options, const Stopwatch& stopwatch) {
  return time_interleaved(std::span(&run, 1), options, stopwatch).front();
}

std::vector<Timing> time_interleaved(std::span<const Run> runs, const TimingOptions& options,
                                     const Stopwatch& stopwatch) {
  if (options.min_repetitions < 1 || options.max_repetitions < options.min_repetitions) {
    throw InvalidArgument("a timing needs at least one repetition, and no more than its maximum");
  }
  std::vector<int> batches;
  for (const Run& run : runs) batches.push_back(runs_per_sample(run, options.warm_up, stopwatch));

  std::vector<std::vector<double>> samples(runs.size());
  std::vector<double> totals(runs.size(), 0);
  const double more_than_enough = 10 * options.min_seconds;
  const double far_too_long = std::max(more_than_enough, kLongForAnyTiming);
  for (int repetition = 0; repetition < options.max_repetitions; ++repetition) {
    const bool long_enough =
        std::ranges::all_of(totals, [&](double total) { return total >= options.min_seconds; });
    if (repetition >= options.min_repetitions && long_enough) break;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const bool sampled = repetition >= options.min_repetitions;
      if (totals[i] >= (sampled ? more_than_enough : far_too_long)) continue;
      const double seconds = stopwatch.seconds_of(runs[i], batches[i]);
      totals[i] += seconds;
      samples[i].push_back(seconds / batches[i]);
    }
  }
  std::vector<Timing> timings;
  for (const auto& of_run : samples) timings.push_back(summarise(of_run));
  return timings;
}

}  // namespace strata
