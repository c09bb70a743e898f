// Timing that a noisy machine cannot fool easily: many samples, and their median. Candidates that
// are to be compared run in turn, so that other work on the machine slows all of them down alike.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace strata {

struct TimingOptions {
  double min_seconds = 0.2;    // in all, per candidate
  int min_repetitions = 5;     // samples per candidate, even if they take longer
  int max_repetitions = 1000;  // samples per candidate, even if they take less
  int warm_up = 1;             // runs before the first sample
};

// Of the samples, each in seconds per run.
struct Timing {
  double median = 0;
  double minimum = 0;
  double p95 = 0;  // the smallest sample that 95 % of them do not exceed
  int repetitions = 0;
  // Some of the samples, kMostKept at most, spread evenly over all and in the order in which they
  // were taken: what comparisons of two runs judge noise by.
  std::vector<double> kept = {};
};
inline constexpr int kMostKept = 32;

// All zero when there are no samples.
Timing summarise(std::span<const double> seconds);

// The clock. Asynchronous work on a device has a clock of its own.
struct Stopwatch {
  // Seconds of so many runs together, one after the other.
  std::function<double(const std::function<void()>& run, int times)> seconds_of;
  double shortest_sample = 0;  // in seconds; good to about 1 %
};
const Stopwatch& host_stopwatch();

// Times run(). A run that is too short for the clock is repeated within each sample.
Timing time_runs(const std::function<void()>& run, const TimingOptions& options = {},
                 const Stopwatch& stopwatch = host_stopwatch());

// Times all candidates in one go, one sample of each in turn, as many of one as of any other; only
// those that have taken ten times `min_seconds` rest while the others go on, before they have
// `min_repetitions` if that was a second or more. Throws InvalidArgument when the options ask for
// no repetition, or for more than they allow.
std::vector<Timing> time_interleaved(std::span<const std::function<void()>> runs,
                                     const TimingOptions& options = {},
                                     const Stopwatch& stopwatch = host_stopwatch());

}  // namespace strata
