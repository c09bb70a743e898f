#include "cli/parts/measuring.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/parts/exit_status.hpp"
#include "cli/parts/interruption.hpp"

namespace strata::cli {

const CachedProfile& find_machine(ResultDocument& document, Progress& progress) {
  progress.start("measuring how fast this machine is");
  const CachedProfile& known = cached_machine_profile();
  const int threads = known.profile.cores;
  Json profile{{"memory_read_bytes_per_second", known.profile.memory_bandwidth(threads)},
               {"cache_bytes", known.profile.cache_bytes(threads)},
               {"private_cache_bytes", known.profile.private_cache_bytes(threads)},
               {"measured_at", known.profile.measured_at}};
  if (!known.remark.empty()) profile["remark"] = known.remark;
  document.describe_machine(profile);
  return known;
}

ContestOptions contest_options(const MeasuringOptions& options, Progress& progress) {
  ContestOptions contest;
  contest.min_seconds = options.min_seconds;
  contest.seed = options.seed;
  contest.validate = options.validate;
  contest.progress = [&progress](const std::string& what) { progress.start(what); };
  contest.check_interruption = check_interruption;
  return contest;
}

std::string matrix_text(const MatrixSource& source, const MatrixStatistics& statistics) {
  return fmt::format("{}: {} rows, {} entries, {:.1f} per row\n", source.name,
                     grouped(statistics.rows), grouped(statistics.entries),
                     statistics.row_lengths.mean);
}

std::string processor_text(const MachineProfile& profile, int threads) {
  return fmt::format("{}, {} thread{}: {} GB/s from memory\n\n",
                     profile.processor.empty() ? "this machine" : profile.processor, threads,
                     threads == 1 ? "" : "s", giga_text(profile.memory_bandwidth(threads)));
}

std::string heading_text(const MatrixSource& source, const MatrixStatistics& statistics,
                         const MachineProfile& profile, int threads) {
  return matrix_text(source, statistics) + processor_text(profile, threads);
}

std::string giga_text(double per_second) {
  const double number = per_second / 1e9;
  return fmt::format("{:.{}f}", number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0);
}

std::string percent_text(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

std::string check_text(const std::vector<Measurement>& measurements) {
  const Check* worst = nullptr;
  Check all;
  for (const Measurement& measurement : measurements) {
    if (!measurement.check) return "The results were not compared with reference products.";
    const Check& check = *measurement.check;
    if (!check.passed) {
      return fmt::format("{}: {}: {}.", check.wrong > 0 ? "WRONG RESULTS" : "NOT CHECKED",
                         measurement.name, check.explain());
    }
    all.elements += check.elements;
    all.judged += check.judged;
    all.largest_tolerance = std::max(all.largest_tolerance, check.largest_tolerance);
    if (worst == nullptr || check.share > worst->share) worst = &check;
  }
  if (worst == nullptr) return "There are no results.";
  std::string text = fmt::format(
      "All results agree with reference products, each element within the rounding error of its "
      "row "
      "(at most {:.1e}): {}.",
      all.largest_tolerance, worst->explain());
  if (all.judged < all.elements) {
    text += fmt::format(
        "\n{} of {} elements were not judged: inputs are not finite, sums may overflow, or rows "
        "are "
        "too long for the precision.",
        grouped(all.elements - all.judged), grouped(all.elements));
  }
  return text;
}

void require_passed(const std::vector<Measurement>& measurements, const std::string& command) {
  for (const Measurement& measurement : measurements) {
    if (measurement.check && !measurement.check->passed) {
      throw Failure(ExitStatus::not_valid, fmt::format("{}: {}: {}", command, measurement.name,
                                                       measurement.check->explain()));
    }
  }
}

}  // namespace strata::cli
