// What became faster or slower between two sets of results, beyond the noise.
//
//   const auto compared = compare(timed_results({"before.jsonl"}), timed_results({"after.jsonl"}));
//   for (const ComparedCase& each : compared.cases) {
//     if (each.verdict == Verdict::slower) blame(each.name, each.ratio.middle);
//   }
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "strata/report/statistics.hpp"

namespace strata::report {

// One thing that was timed: a matrix with a kernel, its format, power, threads and precision. Who
// ran it several times has all samples here. A solver's result may be two: its time per iteration
// or product, and the time it took to reach its tolerance.
struct TimedResult {
  std::string name;
  std::vector<std::vector<double>> runs = {};  // seconds, a list per process that measured it
  std::vector<double> over_peers = {};  // of each run: over the median of the fastest other library
  bool sampled = true;                  // false: a run has nothing but its median
  bool averaged = false;  // a time is that of many iterations or products, also where it is alone
  bool wrong = false;     // a run failed its validation, or did not reach its tolerance
  std::string counted = {};  // what it took some of: iterations, products; empty: nothing
  long count = 0;            // so many, in the last run

  std::vector<double> all_samples() const;
};

// All results in the files that have times, in the order in which they first appear. What could not
// be read is added to `problems`. Throws FileError.
std::vector<TimedResult> timed_results(const std::vector<std::filesystem::path>& files,
                                       std::vector<std::string>& problems);

struct CompareOptions {
  double threshold = 0.05;  // slower than this, beyond the noise, is a regression
  // Compare times over those of the fastest other library in the same run: what slows down all of
  // a machine cancels. Results without such a library take no part.
  bool over_peers = false;
};

enum class Verdict {
  same,       // no difference that chance does not explain
  faster,     // beyond the noise
  slower,     // beyond the noise
  regressed,  // slower by more than the threshold, beyond the noise; or wrong now
};
std::string_view name_of(Verdict verdict);

struct ComparedCase {
  std::string name;
  double before = 0;  // median seconds, or times the fastest other library
  double after = 0;
  Interval ratio = {};     // after over before: 1.1 is 10 % slower
  double probability = 1;  // of such a difference by chance, adjusted for the number of cases
  int samples_before = 0;
  int samples_after = 0;
  bool sampled = true;       // false: medians alone were compared
  double noise = 0;          // of the ratio, as it was assumed where samples do not show it
  bool wrong = false;        // now
  std::string counted = {};  // what both took some of: iterations, products; empty: nothing
  long count_before = 0;
  long count_after = 0;
  Verdict verdict = Verdict::same;

  bool count_changed() const { return count_before != count_after; }
};

struct Comparison {
  std::vector<ComparedCase> cases;  // the most slowed down first
  std::vector<std::string> only_before;
  std::vector<std::string> only_after;
  Interval mean = {1, 1, 1};  // geometric, of the ratios

  int count(Verdict verdict) const;
  int other_counts() const;  // cases that take another number of iterations or products now
};

// Of a ratio of two times, each of many iterations: reruns of a solve on an H200 differ by 1.3 % at
// most (docs/results/solvers-gpu.jsonl.gz).
inline constexpr double kAssumedNoise = 0.04;

// From three processes on for each side, their medians are the samples, which shows what differs
// from run to run; with fewer, the samples within a run. Where there are so few samples that no
// difference of them could be told from chance, times of many iterations have kAssumedNoise, and
// differences of others count from twice the threshold on. Throws InvalidArgument for a threshold
// that is negative or not finite.
Comparison compare(const std::vector<TimedResult>& before, const std::vector<TimedResult>& after,
                   const CompareOptions& options = {});

}  // namespace strata::report
