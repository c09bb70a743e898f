// A contest: ways to compute the same thing, timed in turn in one process and checked.
//
//   const std::vector<Contender> contenders{
//       {.name = "CSR", .run = [&] { csr_plan.apply(x, y, csr_workspace); }},
//       {.name = "SELL", .run = [&] { sell_plan.apply(x, y, sell_workspace); }}};
//   for (const Measurement& measured : hold_contest(contenders)) {
//     std::printf("%s: %g s\n", measured.name.c_str(), measured.timing.median);
//   }
//
// Turns make other work on the machine slow all of them down alike. What was timed is checked
// afterwards, in memory that held poison: a contender that writes nothing, or somebody else's
// result, does not pass.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strata/bench/timing.hpp"
#include "strata/measure/json.hpp"
#include "strata/measure/validation.hpp"

namespace strata {

// The vectors of contenders, as a check needs them.
struct ContestVectors {
  std::function<void()> poison_inputs;   // see poison() in vectors.hpp
  std::function<void()> restore_inputs;  // to what they are when runs are timed
  std::function<void()> poison_outputs;
};

struct Contender {
  std::string name;
  double flops = 0;                // of one run
  double bytes = 0;                // that one run reads and writes, wherever it finds them
  std::function<void()> run = {};  // none: it was refused, and takes no part
  ContestVectors vectors = {};
  std::function<Check()> check = {};  // of what the last run left in the outputs; none: unchecked
};

// One timed contender. Flops and bytes are those of one application.
struct Measurement {
  std::string name = {};
  double flops = 0;
  double bytes = 0;
  Timing timing = {};
  std::optional<Check> check = {};  // none where it was not checked

  double flops_per_second() const { return flops / timing.median; }
  double bytes_per_second() const { return bytes / timing.median; }
};

// The key "seconds" of results.
Json json_of(const Timing& timing);

// Adds "seconds", "gflops", "gbytes_per_second" and "error".
void add_measurement(Json& result, const Measurement& measurement);

struct ContestOptions {
  double min_seconds = 0.5;  // of every contender, all its repetitions together
  int min_repetitions = 5;
  Stopwatch stopwatch = host_stopwatch();
  std::uint64_t seed = 1;  // of random vectors
  bool validate = true;    // check the results
  // What begins now, for people who wait. May throw to end the contest.
  std::function<void(const std::string& what)> progress;
  // Called before every run. May throw to end the contest.
  std::function<void()> check_interruption;

  void report(const std::string& what) const {
    if (progress) progress(what);
  }
};

// A measurement for each, those that were refused included, which have no timing. With
// `options.validate`, those that can be checked are: they run once on poisoned inputs, so that
// memory of their own keeps nothing of what was right, and once more into poisoned outputs.
std::vector<Measurement> hold_contest(std::span<const Contender> contenders,
                                      const ContestOptions& options = {});

}  // namespace strata
