// strata mpk: the power benchmark.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/analysis.hpp"
#include "cli/candidate.hpp"
#include "cli/commands.hpp"
#include "cli/power_bench.hpp"
#include "cli/run_command.hpp"
#include "strata/machine/system.hpp"

namespace strata::cli {

namespace {

constexpr std::string_view kDefaultResult = "strata-mpk.json";

struct MpkOptions {
  CommonOptions common;
  MeasuringOptions measuring;
  PowerSettings power;
  std::string matrix;  // empty: the embedded default
};

// A long 27-point stencil, four times as large in CSR as the caches if that is done in about a
// minute and fits the memory several times over.
std::string default_matrix(const MachineFacts& facts) {
  constexpr Offset kPlaneRows = 64 * 64;
  constexpr Offset kPlaneBytes = kPlaneRows * 27 * 12;
  constexpr Offset kSmallest = 256'000'000;
  constexpr Offset kLargest = 1'500'000'000;
  const Offset cache = std::max(facts.last_level_bytes(), facts.cache_bytes(facts.cores));
  const Offset wanted = std::clamp(4 * cache, kSmallest, kLargest);
  const Offset bytes = std::min(wanted, available_memory() / 8);
  return fmt::format("stencil27:64x64x{}", std::max<Offset>(bytes / kPlaneBytes, 8));
}

Json run_json(const PowerRun& run, const MpkOptions& options, Precision precision) {
  const CandidateContext context{options.power,   precision,   run.power,
                                 run.cache_bytes, run.threads, run.measurement.flops};
  Json result = candidate_json("mpk", run.choice, context);
  result["asked"] = name_of(run.asked);
  result["setup_seconds"] = run.setup_seconds;
  add_measurement(result, run.measurement);
  result["bytes"] = {{"minimum", run.minimum_bytes},
                     {"format", run.choice.format_bytes},
                     {"from_memory", run.choice.memory_bytes}};
  result["speedup_over_spmv"] = run.speed_up;
  if (run.break_even > 0) result["break_even_applications"] = run.break_even;
  if (run.levels > 0) result["levels"] = run.levels;
  if (run.overflow) {
    result["overflow"] = {{"power", run.overflow->power}, {"element", run.overflow->element}};
  }
  add_prediction(result, run.choice, context);
  return result;
}

std::string strategy_text(const PowerRun& run) {
  if (run.asked == PowerStrategy::spmv) return "plain products";
  std::string text{name_of(run.choice.strategy)};
  if (run.plain()) text = "plain products";
  if (!run.plain() && run.choice.block < run.power) {
    text += fmt::format(" in blocks of {}", run.choice.block);
  }
  return run.asked == PowerStrategy::automatic ? "auto: " + text : text;
}

std::string table_text(const std::vector<PowerRun>& runs, const MachineFacts& facts) {
  Table table({"strategy", "rows", "format", "p", "window", "GF/s", "GB/s", "of memory", "speed-up",
               "predicted", "pred./meas.", "set-up", "pays after"},
              3);
  for (const PowerRun& run : runs) {
    const Measurement& measured = run.measurement;
    const double predicted = measured.flops / run.choice.predicted_seconds;
    table.add({strategy_text(run), run.choice.order, run.choice.format, std::to_string(run.power),
               run.plain() ? "-" : bytes_text(run.choice.window_bytes),
               giga_text(measured.flops_per_second()), giga_text(measured.bytes_per_second()),
               percent_text(measured.bytes_per_second() / facts.memory_bandwidth(run.threads)),
               fmt::format("{:.2f}", run.speed_up), giga_text(predicted),
               fmt::format("{:.2f}", predicted / measured.flops_per_second()),
               seconds_text(run.setup_seconds),
               run.break_even > 0 ? grouped(std::llround(std::ceil(run.break_even))) : "-"});
  }
  return table.text(2);
}

std::string overflow_text(const std::vector<PowerRun>& runs) {
  std::string text;
  int shown = 0;
  for (const PowerRun& run : runs) {
    if (!run.overflow || run.overflow->power == shown) continue;
    shown = run.overflow->power;
    text += fmt::format(
        "Power {} is not finite from element {} on: powers this high overflow; --basis scaled=S "
        "or chebyshev=LOW:HIGH keep them in range.\n",
        run.overflow->power, run.overflow->element);
  }
  return text;
}

// What the table means, for somebody who sees one for the first time.
std::string conclusion_text(const std::vector<PowerRun>& runs, const MachineFacts& facts) {
  // The reference of the speed-up is in the table once per power.
  const auto plain = std::ranges::find_if(
      runs, [](const PowerRun& run) { return run.asked == PowerStrategy::spmv; });
  if (plain == runs.end()) return "";
  const double share =
      plain->measurement.bytes_per_second() / facts.memory_bandwidth(plain->threads);
  std::string text = fmt::format(
      "Plain products read the {} of the matrix once per power, at {} GB/s: {} of what memory "
      "delivers{}.\n",
      bytes_text(plain->choice.format_bytes), giga_text(plain->measurement.bytes_per_second()),
      percent_text(share), share > 1.1 ? ", so caches hold some of it" : "");
  const auto best = std::ranges::max_element(
      runs, {}, [](const PowerRun& run) { return run.plain() ? 0.0 : run.speed_up; });
  if (best->plain()) {
    const bool asked = std::ranges::any_of(
        runs, [](const PowerRun& run) { return run.asked != PowerStrategy::spmv; });
    return asked ? text + "The plan does not block here: 'strata explain' tells why.\n" : text;
  }
  if (best->speed_up < 1.03) {
    return text + fmt::format(
                      "Blocked powers gain nothing here: the best of them, {} at p = {}, runs at "
                      "{:.2f} times the speed of the best plain products.\n",
                      name_of(best->choice.strategy), best->power, best->speed_up);
  }
  text += fmt::format(
      "Blocked powers keep {} of it in the cache until all powers have used it: {} at p = {} is "
      "{:.2f} times as fast as the best plain products.\n",
      bytes_text(best->choice.window_bytes), name_of(best->choice.strategy), best->power,
      best->speed_up);
  if (best->break_even > 0) {
    text += fmt::format("Its set-up of {} pays off after {} applications.\n",
                        seconds_text(best->setup_seconds),
                        grouped(std::llround(std::ceil(best->break_even))));
  }
  return text;
}

std::vector<Measurement> measurements_of(const std::vector<PowerRun>& runs) {
  std::vector<Measurement> measurements;
  for (const PowerRun& run : runs) measurements.push_back(run.measurement);
  return measurements;
}

std::string run_mpk(const MpkOptions& options, std::vector<PowerRun>& runs,
                    ResultDocument& document, Progress& progress) {
  options.power.strategies();  // whatever is not here is known before anything is measured
  const KnownFacts& known = find_machine(document, progress);
  const MatrixSource source =
      find_matrix(options.matrix.empty() ? default_matrix(known.facts) : options.matrix);
  const auto [matrix, statistics] = load_and_count(source, options.common, document, progress);
  const Precision precision = precision_for(source, options.common);
  run_power_bench(matrix, options.power, options.measuring, progress,
                  [&](const std::vector<PowerRun>& done) {
                    for (const PowerRun& run : done) {
                      document.add_result(run_json(run, options, precision));
                      runs.push_back(run);
                    }
                  });
  std::string text = heading_text(source, statistics, known.facts, runs.front().threads) +
                     table_text(runs, known.facts) + "\n" + overflow_text(runs) +
                     conclusion_text(runs, known.facts) + check_text(measurements_of(runs)) + "\n";
  if (!known.remark.empty() && !options.common.quiet) {
    text += fmt::format("Remark on the machine's facts: {}.\n", known.remark);
  }
  if (!options.common.json.empty()) {
    text += fmt::format("All numbers are in {}.\n", options.common.json);
  }
  return text;
}

}  // namespace

void add_mpk(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<MpkOptions>();
  CLI::App* command = app.add_subcommand(
      "mpk", "The power benchmark: plain products against blocked powers, timed and checked");
  add_matrix_argument(*command, options->matrix)->required(false);
  add_power_options(*command, options->power, true);
  add_measuring_options(*command, options->measuring);
  add_common_options(*command, options->common);
  add_type_options(*command, options->common);
  set_example(*command,
              "strata mpk stencil27:64x64x400 -p 2:6\n\nWithout MATRIX, a stencil several times as "
              "large as the caches; the result goes to strata-mpk.json.");
  command->callback([options, &chosen] {
    if (options->matrix.empty() && options->common.json.empty()) {
      options->common.json = kDefaultResult;
    }
    chosen = [options](const std::vector<std::string>& words) {
      std::vector<PowerRun> runs;
      run_command(options->common, words, [&](ResultDocument& document, Progress& progress) {
        return run_mpk(*options, runs, document, progress);
      });
      require_passed(measurements_of(runs), "mpk");
    };
  });
}

}  // namespace strata::cli
