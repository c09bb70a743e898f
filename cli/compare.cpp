// strata compare: what became faster or slower between two sets of results, beyond the noise.

#include <fmt/format.h>

#include <memory>

#include "cli/parts/commands.hpp"
#include "cli/parts/exit_status.hpp"
#include "cli/parts/run_command.hpp"
#include "strata/base/error.hpp"
#include "strata/report/comparison.hpp"

namespace strata::cli {

using report::ComparedCase;
using report::Comparison;
using report::Verdict;

namespace {

struct ComparisonOptions {
  CommonOptions common;
  std::string before;
  std::string after;
  double threshold = 5;  // percent
  bool over_peers = false;
  bool all = false;
};

constexpr std::size_t kShown = 20;  // cases of one kind, unless all are asked for

std::string percent_text(double ratio) {
  return fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

std::string time_text(double time, bool over_peers) {
  return over_peers ? fmt::format("{:.3f}", time) : seconds_text(time);
}

std::string spread_text(const ComparedCase& each) {
  if (each.noise > 0) return fmt::format("{:.0f} % assumed", 100 * each.noise);
  if (!each.sampled) return "too few samples";
  return fmt::format("{} … {}", percent_text(each.ratio.low), percent_text(each.ratio.high));
}

std::string verdict_text(const ComparedCase& each) {
  std::string text = each.wrong ? "wrong now" : std::string(name_of(each.verdict));
  if (each.count_changed()) {
    text += fmt::format(", {} {} instead of {}", each.count_after, each.counted, each.count_before);
  }
  return text;
}

std::vector<std::string> row_of(const ComparedCase& each, bool over_peers) {
  return {each.name,
          time_text(each.before, over_peers),
          time_text(each.after, over_peers),
          percent_text(each.ratio.middle),
          spread_text(each),
          verdict_text(each)};
}

// Those that changed, and how many did not.
std::string table_text(const Comparison& compared, const ComparisonOptions& options) {
  Table table({"case", "before", "after", "time", "95 % of it", ""});
  std::size_t rows = 0;
  std::size_t left_out = 0;
  for (const ComparedCase& each : compared.cases) {
    if (!options.all && each.verdict == Verdict::same && !each.count_changed()) continue;
    if (!options.all && rows >= kShown && each.verdict != Verdict::regressed) {
      ++left_out;
      continue;
    }
    table.add(row_of(each, options.over_peers));
    ++rows;
  }
  std::string text = rows == 0 ? "" : table.text(2) + "\n";
  if (left_out > 0) text += fmt::format("{} more changed; --all shows them.\n", left_out);
  return text;
}

std::string missing_text(const std::vector<std::string>& names, std::string_view where) {
  if (names.empty()) return "";
  std::string text = fmt::format("{} only {}: {}", names.size(), where, names.front());
  if (names.size() > 1) text += fmt::format(" and {} more", names.size() - 1);
  return text + "\n";
}

std::string answer_text(const Comparison& compared) {
  std::string text = fmt::format(
      "{} compared: {} regressed, {} slower, {} faster, {} the same beyond the noise.\n"
      "In geometric mean the time changed by {} ({} … {}).\n",
      compared.cases.size(), compared.count(Verdict::regressed), compared.count(Verdict::slower),
      compared.count(Verdict::faster), compared.count(Verdict::same),
      percent_text(compared.mean.middle), percent_text(compared.mean.low),
      percent_text(compared.mean.high));
  if (const int changed = compared.other_counts(); changed > 0) {
    text += fmt::format("{} another number of iterations or products.\n",
                        changed == 1 ? "1 takes" : fmt::format("{} take", changed));
  }
  return text;
}

Json json_of(const ComparedCase& each, bool over_peers) {
  const char* unit = over_peers ? "over_peers" : "seconds";
  Json json{{"kernel", "compare"},
            {"case", each.name},
            {unit, {{"before", each.before}, {"after", each.after}}},
            {"ratio",
             {{"low", each.ratio.low}, {"median", each.ratio.middle}, {"high", each.ratio.high}}},
            {"probability", each.probability},
            {"samples", {{"before", each.samples_before}, {"after", each.samples_after}}},
            {"sampled", each.sampled},
            {"wrong", each.wrong},
            {"verdict", name_of(each.verdict)}};
  if (each.noise > 0) json["assumed_noise"] = each.noise;
  if (!each.counted.empty()) {
    json[each.counted] = {{"before", each.count_before}, {"after", each.count_after}};
  }
  return json;
}

std::string run_compare(const ComparisonOptions& options, ResultDocument& document,
                        Progress& progress, int& regressed) {
  progress.start("reading results");
  std::vector<std::string> problems;
  const auto results_in = [&](const std::string& file) {
    return read_input([&] { return report::timed_results({file}, problems); });
  };
  const auto before = results_in(options.before);
  const auto after = results_in(options.after);
  progress.start("comparing");
  const Comparison compared = report::compare(
      before, after, {.threshold = options.threshold / 100, .over_peers = options.over_peers});
  if (compared.cases.empty()) {
    throw Failure(ExitStatus::input,
                  fmt::format("{}: has no times in common with {}", options.after, options.before));
  }
  for (const ComparedCase& each : compared.cases) {
    document.add_result(json_of(each, options.over_peers));
  }
  regressed = compared.count(Verdict::regressed);
  std::string text = answer_text(compared) + "\n" + table_text(compared, options);
  text += missing_text(compared.only_before, "before");
  text += missing_text(compared.only_after, "after");
  for (const std::string& problem : problems) text += problem + "\n";
  return text;
}

}  // namespace

void add_compare(CommandLine& line) {
  auto options = std::make_shared<ComparisonOptions>();
  CommandOptions command = line.add_command(
      "compare", "Say what became faster or slower beyond the noise; status 1 on a regression");
  command.add("BEFORE", options->before, "Results: of a command, of a campaign, or collected")
      .required();
  command.add("AFTER", options->after, "The same, later").required();
  command
      .add("--threshold", options->threshold,
           "Percent that a case may be slower, beyond the noise, before the status is 1")
      .type_name("PERCENT")
      .show_default();
  command.add_flag("--over-peers", options->over_peers,
                   "Compare times over those of the fastest other library in the same run");
  command.add_flag("--all", options->all, "Show also what did not change");
  add_output_options(command, options->common);
  command.set_example(
      "strata compare before.jsonl after.jsonl\n"
      "  strata compare before.jsonl after.jsonl --threshold 2 --over-peers");
  command.set_work([options](const std::vector<std::string>& words) {
    int regressed = 0;
    run_command(options->common, words, [&](ResultDocument& document, Progress& progress) {
      return run_compare(*options, document, progress, regressed);
    });
    if (regressed > 0) {
      throw Failure(ExitStatus::not_valid,
                    fmt::format("{}: {} regressed", options->after, regressed));
    }
  });
}

}  // namespace strata::cli
