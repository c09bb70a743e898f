#include "strata/report/internal/measured_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace strata::report::detail {

namespace {

constexpr std::array<std::string_view, 5> kSolvers{"solve", "eig", "expm", "hpcg", "fem"};

long count_member(const Tree& object, const char* key) {
  const Tree& found = member(object, key);
  return found.is_number_integer() ? found.get<long>() : 0;
}

std::vector<double> samples_of(const Tree& result) {
  std::vector<double> samples;
  for (const Tree& sample : member(member(result, "seconds"), "samples")) {
    if (sample.is_number() && sample.get<double>() > 0) samples.push_back(sample.get<double>());
  }
  return samples;
}

// seconds.median with its samples.
MeasuredTime sampled_time(const Tree& result) {
  return {.seconds = number_member(member(result, "seconds"), "median"),
          .samples = samples_of(result)};
}

bool has_converged(const Tree& result) {
  return text_member(result, "status") == "converged";
}

// solve, eig and expm: one time each. Where a tolerance was reached, the count belongs to the time
// that took; where none was asked for, it is what was asked for.
std::vector<MeasuredTime> times_of_method(const Tree& result, const char* unit, const char* units,
                                          double seconds_per_unit) {
  const double total = number_member(member(result, "seconds"), "total");
  const double tolerance = number_member(result, "tolerance");
  MeasuredTime each{
      .what = fmt::format("per {}", unit), .seconds = seconds_per_unit, .averaged = true};
  if (!(tolerance > 0) || !has_converged(result)) {
    each.counted = units;
    each.count = count_member(result, units);
    return {each};
  }
  return {each,
          {.what = "to the tolerance",
           .seconds = total,
           .averaged = true,
           .counted = units,
           .count = count_member(result, units)}};
}

// Earlier versions wrote iterations_per_second and nothing else that is per iteration.
MeasuredTime time_of_fem(const Tree& result) {
  const auto iterations = static_cast<double>(count_member(result, "iterations"));
  MeasuredTime time = sampled_time(result);
  time.what = "per iteration";
  time.averaged = true;
  time.seconds = time.seconds > 0 ? time.seconds / iterations
                                  : 1 / number_member(result, "iterations_per_second");
  for (double& sample : time.samples) sample /= iterations;
  return time;
}

// Earlier versions wrote the seconds of all sets.
MeasuredTime time_of_hpcg(const Tree& result) {
  MeasuredTime time = sampled_time(result);
  time.what = "a set";
  time.averaged = true;
  time.counted = "iterations";
  time.count = count_member(result, "iterations");
  if (!(time.seconds > 0)) {
    time.seconds = number_member(member(result, "seconds"), "sets") /
                   static_cast<double>(count_member(result, "sets"));
  }
  return time;
}

std::vector<MeasuredTime> all_times(const Tree& result) {
  const std::string kernel = text_member(result, "kernel");
  const Tree& seconds = member(result, "seconds");
  if (kernel == "solve") {
    return times_of_method(result, "iteration", "iterations", number_member(seconds, "iteration"));
  }
  if (kernel == "eig" || kernel == "expm") {
    const auto products = static_cast<double>(count_member(result, "products"));
    return times_of_method(result, "product", "products",
                           number_member(seconds, "total") / products);
  }
  if (kernel == "fem") return {time_of_fem(result)};
  if (kernel == "hpcg") return {time_of_hpcg(result)};
  return {sampled_time(result)};
}

}  // namespace

bool is_solver(const Tree& result) {
  return std::ranges::find(kSolvers, text_member(result, "kernel")) != kSolvers.end();
}

std::vector<MeasuredTime> measured_times(const Tree& result) {
  std::vector<MeasuredTime> times = all_times(result);
  std::erase_if(times, [](const MeasuredTime& time) {
    return !(time.seconds > 0) || !std::isfinite(time.seconds);
  });
  return times;
}

bool is_wrong(const Tree& result) {
  const auto failed = [](const Tree& passed) { return passed.is_boolean() && !passed.get<bool>(); };
  if (failed(member(member(result, "error"), "passed"))) return true;
  if (!is_solver(result)) return false;
  if (failed(member(result, "passed"))) return true;
  return number_member(result, "tolerance") > 0 && !has_converged(result);
}

}  // namespace strata::report::detail
