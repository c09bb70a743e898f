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
// ran it several times has all samples here.
struct TimedResult {
  std::string name;
  std::vector<std::vector<double>> runs = {};  // seconds, a list per process that measured it
  std::vector<double> over_peers = {};  // of each run: over the median of the fastest other library
  bool sampled = true;                  // false: a run has nothing but its median
  bool wrong = false;                   // a run failed its validation

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
  bool sampled = true;  // false: medians alone were compared
  bool wrong = false;   // now
  Verdict verdict = Verdict::same;
};

struct Comparison {
  std::vector<ComparedCase> cases;  // the most slowed down first
  std::vector<std::string> only_before;
  std::vector<std::string> only_after;
  Interval mean = {1, 1, 1};  // geometric, of the ratios

  int count(Verdict verdict) const;
};

// From three processes on for each side, their medians are the samples, which shows what differs
// from run to run; with fewer, the samples within a run. Where there are no samples a difference
// counts from twice the threshold on. Throws InvalidArgument for a threshold that is negative or
// not finite.
Comparison compare(const std::vector<TimedResult>& before, const std::vector<TimedResult>& after,
                   const CompareOptions& options = {});

}  // namespace strata::report
