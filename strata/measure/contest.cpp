#include "strata/measure/contest.hpp"

#include <fmt/format.h>

#include <cmath>

namespace strata {

namespace {

Check check_from_poison(const Contender& contender) {
  const ContestVectors& vectors = contender.vectors;
  vectors.poison_inputs();
  contender.run();
  vectors.restore_inputs();
  vectors.poison_outputs();
  contender.run();
  return contender.check();
}

std::function<void()> interruptible(const Contender& contender, const ContestOptions& options) {
  return [&contender, &options] {
    if (options.check_interruption) options.check_interruption();
    contender.run();
  };
}

}  // namespace

std::vector<Measurement> hold_contest(std::span<const Contender> contenders,
                                      const ContestOptions& options) {
  std::vector<Measurement> measurements;
  std::vector<std::size_t> running;
  std::vector<std::function<void()>> runs;
  for (const Contender& contender : contenders) {
    measurements.push_back(
        {.name = contender.name, .flops = contender.flops, .bytes = contender.bytes});
    if (!contender.run) continue;
    running.push_back(measurements.size() - 1);
    runs.push_back(interruptible(contender, options));
  }
  if (running.empty()) return measurements;

  options.report(running.size() == 1 ? "timing " + contenders[running.front()].name
                                     : fmt::format("timing {} candidates in turn", running.size()));
  const auto timings = time_interleaved(
      runs, {.min_seconds = options.min_seconds, .min_repetitions = options.min_repetitions},
      options.stopwatch);
  for (std::size_t i = 0; i < running.size(); ++i) {
    const Contender& contender = contenders[running[i]];
    Measurement& measurement = measurements[running[i]];
    measurement.timing = timings[i];
    if (!options.validate || !contender.check) continue;
    options.report("checking " + contender.name);
    measurement.check = check_from_poison(contender);
  }
  return measurements;
}

namespace {

// With the digits that a clock can tell.
Json samples_of(const Timing& timing) {
  Json samples = Json::array();
  for (const double seconds : timing.kept) {
    if (!(seconds > 0)) continue;
    const double unit = std::pow(10.0, std::floor(std::log10(seconds)) - 4);
    samples.push_back(std::round(seconds / unit) * unit);
  }
  return samples;
}

}  // namespace

Json json_of(const Timing& timing) {
  return {{"median", timing.median},
          {"min", timing.minimum},
          {"p95", timing.p95},
          {"repetitions", timing.repetitions},
          {"samples", samples_of(timing)}};
}

void add_measurement(Json& result, const Measurement& measurement) {
  result["seconds"] = json_of(measurement.timing);
  result["gflops"] = measurement.flops_per_second() / 1e9;
  result["gbytes_per_second"] = measurement.bytes_per_second() / 1e9;
  if (!measurement.check) return;
  const Check& check = *measurement.check;
  result["error"] = {{"relative", check.relative_error},
                     {"tolerance", check.tolerance},
                     {"passed", check.passed},
                     {"power", check.power},
                     {"row", check.row},
                     {"vector", check.vector},
                     {"elements", check.elements},
                     {"judged", check.judged},
                     {"wrong", check.wrong},
                     {"largest_tolerance", check.largest_tolerance},
                     {"compared_powers", check.compared}};
}

}  // namespace strata
