// strata bench: a campaign, many runs of this command. Each case is a process of its own; what is
// finished is kept and not run again.

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>

#include "cli/parts/campaign_progress.hpp"
#include "cli/parts/campaign_text.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/interruption.hpp"
#include "cli/parts/run_command.hpp"
#include "cli/parts/this_program.hpp"
#include "strata/base/error.hpp"
#include "strata/campaign/campaign.hpp"
#include "strata/campaign/case_run.hpp"
#include "strata/campaign/history.hpp"
#include "strata/campaign/host.hpp"
#include "strata/campaign/read_results.hpp"
#include "strata/campaign/results_file.hpp"
#include "strata/campaign/runner.hpp"
#include "strata/campaign/selection.hpp"
#include "strata/campaign/slurm.hpp"
#include "strata/io/replace_file.hpp"

namespace strata::cli {

namespace fs = std::filesystem;
using campaign::Campaign;
using campaign::History;
using campaign::SelectedCase;

namespace {

struct BenchOptions {
  CommonOptions common;
  std::string file;
  std::string results;  // empty: as the campaign says, or its name with .jsonl
  std::string host;     // run here under this name, whatever the campaign says
  campaign::Selection selection;
  bool dry_run = false;
  std::string slurm;  // a folder for the script
  bool submit = false;
  bool merge = false;
  bool identify = false;  // for another Strata, over ssh
  bool run_cases = false;
};

// What a campaign may run: commands that measure or describe.
const std::vector<campaign::KnownCommand>& known_commands() {
  static const std::vector<campaign::KnownCommand> commands{
      {"spmv"},  {"mpk"}, {"tune"}, {"explain"},     {"model"},      {"info"},
      {"solve"}, {"eig"}, {"expm"}, {"hpcg", false}, {"fem", false}, {"machine", false}};
  return commands;
}

// Input that is no campaign is status 3, like a matrix that is none.
template <class Work>
auto reading_input(Work&& work) {
  try {
    return work();
  } catch (const campaign::InvalidCampaign& wrong) {
    throw Failure(ExitStatus::input, wrong.what());
  } catch (const FileError& unreadable) {
    throw Failure(ExitStatus::input, unreadable.what());
  }
}

Campaign load_campaign(const BenchOptions& options) {
  if (options.file.empty()) throw InvalidArgument("no campaign given: try 'strata bench --help'");
  Campaign campaign =
      reading_input([&] { return campaign::read_campaign(options.file, known_commands()); });
  if (!options.host.empty()) {
    campaign.hosts = {{.name = options.host}};
    campaign.share = false;
  }
  return campaign;
}

fs::path results_path(const BenchOptions& options, const Campaign& campaign) {
  if (!options.results.empty()) return options.results;
  return campaign.results.empty() ? fs::path(campaign.name + ".jsonl") : campaign.results;
}

std::vector<std::string> host_names(const Campaign& campaign) {
  std::vector<std::string> names;
  for (const campaign::HostSpec& host : campaign.hosts) names.push_back(host.name);
  if (names.empty()) names.push_back(host_name());
  return names;
}

// What is known from the file, and what was left out of it.
struct Known {
  History history;
  std::vector<std::string> problems;

  void read(const fs::path& path) {
    std::error_code error;
    if (!fs::exists(path, error)) return;
    reading_input([&] {
      const auto left_out = campaign::for_each_result(
          path, [&](const campaign::ResultLine& line) { history.add(line.record); });
      problems.insert(problems.end(), left_out.begin(), left_out.end());
      return 0;
    });
  }
  std::string text() const {
    std::string text;
    for (const std::string& problem : problems) text += printable(problem) + "\n";
    return text;
  }
};

std::vector<SelectedCase> select(const BenchOptions& options, const Campaign& campaign,
                                 const std::vector<std::string>& hosts, const Known& known) {
  auto selected = campaign::select_cases(campaign, hosts, known.history, options.selection);
  if (selected.empty()) {
    throw InvalidArgument(
        fmt::format("{}: none of the {} cases is selected", campaign.name, campaign.cases.size()));
  }
  return selected;
}

bool interrupted() {
  try {
    check_interruption();
    return false;
  } catch (const Interrupted&) {
    return true;
  }
}

// What became of every selected case.
class Reports {
 public:
  Reports(const Campaign& campaign, const std::vector<SelectedCase>& selected,
          ResultDocument& document)
      : document_(document) {
    for (const SelectedCase& each : selected) {
      const campaign::Case& its_case = campaign.cases[each.index];
      reports_.push_back({.key = its_case.key(),
                          .host = each.host,
                          .matrix = its_case.matrix,
                          .result = each.past,
                          .known = !each.open,
                          .before = !each.open});
      if (each.open) {
        open_[name_of(reports_.back().key, each.host)] = reports_.size() - 1;
      } else {
        document_.add_result(json_of(reports_.back()));
      }
    }
  }

  void take(const campaign::Record& record) {
    if (!is_finished(record.outcome.status)) return;
    auto found = open_.find(name_of(record.case_key, record.host));
    if (found == open_.end()) found = open_.find(name_of(record.case_key, ""));
    if (found == open_.end()) return;
    CaseReport& report = reports_[found->second];
    report.host = record.host;
    report.known = true;
    report.result = {.status = record.outcome.status,
                     .exit = record.outcome.exit,
                     .reason = record.outcome.reason,
                     .seconds = record.outcome.seconds};
    document_.add_result(json_of(report));
  }

  const std::vector<CaseReport>& all() const { return reports_; }

 private:
  static std::string name_of(const std::string& key, const std::string& host) {
    return key + '\0' + host;
  }

  ResultDocument& document_;
  std::vector<CaseReport> reports_;
  std::unordered_map<std::string, std::size_t> open_;
};

// What the command ends with, once everything is written.
void require_all_done(const std::vector<CaseReport>& reports) {
  const auto failed = std::ranges::count_if(reports, &CaseReport::failed);
  const auto open = std::ranges::count_if(reports, [](const CaseReport& r) { return !r.known; });
  if (failed == 0 && open == 0) return;
  const auto wrong = std::ranges::find_if(reports, &CaseReport::not_valid);
  const auto first =
      wrong != reports.end() ? wrong : std::ranges::find_if(reports, &CaseReport::failed);
  std::string message = "bench: ";
  if (open > 0) {
    message +=
        fmt::format("{} of {} cases are open; the same command runs them", open, reports.size());
  }
  if (first != reports.end()) {
    message += fmt::format("{}{} of {} cases failed; {}: {}; --retry-failed runs such cases again",
                           open > 0 ? "; " : "", failed, reports.size(), printable(first->key),
                           printable(first->result.reason));
  }
  throw Failure(wrong != reports.end() ? ExitStatus::not_valid : ExitStatus::failure, message);
}

std::string run_campaign(const BenchOptions& options, const Campaign& campaign,
                         std::vector<CaseReport>& reports, ResultDocument& document) {
  const fs::path path = results_path(options, campaign);
  const auto hosts = campaign::make_hosts(
      campaign, host_name(), {.path = running_program(), .identity = build_identity()});
  // Before the file is there: a pattern that matches nothing makes none.
  select(options, campaign, host_names(campaign), {});
  // The case that runs is ended before this process is.
  const CleanUpFirst clean_up;
  campaign::ResultsFile results(path);
  Known known;
  known.read(path);
  const auto selected = select(options, campaign, host_names(campaign), known);
  Reports kept(campaign, selected, document);
  campaign::RunSummary summary;
  {
    CampaignProgress line(options.common.quiet);
    summary = campaign::run_cases(
        campaign, selected, hosts, results,
        {.stop = interrupted,
         .progress = [&](const campaign::RunProgress& progress) { line.show(progress); },
         .finished = [&](const campaign::Record& record) { kept.take(record); }});
  }
  check_interruption();
  reports = kept.all();
  for (const CaseReport& report : reports) {
    if (!report.known) document.add_result(json_of(report));
  }
  return known.text() + summary_text(campaign.name, path.string(), reports, summary.lost_hosts);
}

std::string list_campaign(const BenchOptions& options, const Campaign& campaign) {
  Known known;
  known.read(results_path(options, campaign));
  const auto selected = select(options, campaign, host_names(campaign), known);
  return known.text() + list_text(campaign, selected);
}

// The script for a job array over all cases that are open, in the results or in those of tasks.
std::string write_slurm(const BenchOptions& options, Campaign campaign) {
  if (!campaign.hosts.empty()) {
    throw InvalidArgument("a campaign with 'hosts' does not run as Slurm jobs: leave them out");
  }
  const fs::path path = results_path(options, campaign);
  Known known;
  known.read(path);
  for (const fs::path& task : campaign::find_task_results(path)) known.read(task);
  const auto selected = select(options, campaign, {campaign.slurm.host}, known);
  const auto tasks = campaign::open_tasks(campaign, selected);
  if (tasks.empty()) return fmt::format("{}: no case is open\n", campaign.name);
  const fs::path script = fs::path(options.slurm) / (campaign.name + ".sbatch");
  replace_file(script, campaign::slurm_script(campaign, tasks, installed_program(), path));
  std::string text = fmt::format("{}: {} tasks of at most {} cases each\n", script.string(),
                                 tasks.size(), campaign.slurm.cases_per_task);
  if (!options.submit) return text + fmt::format("Submit them with: sbatch {}\n", script.string());
  try {
    return text + campaign::submit(script) + "\n";
  } catch (const FileError& failure) {
    throw Failure(ExitStatus::unavailable,
                  fmt::format("{}; the script is written", failure.what()));
  }
}

// Appends what the tasks of a job array have written and the results do not have yet.
std::string merge_tasks(const BenchOptions& options, const Campaign& campaign) {
  const fs::path path = results_path(options, campaign);
  const auto files = campaign::find_task_results(path);
  if (files.empty()) {
    throw Failure(ExitStatus::input, fmt::format("{}: no task has written any results",
                                                 campaign::task_results(path, 0).string()));
  }
  campaign::ResultsFile results(path);
  std::set<std::string> there;
  std::vector<std::string> problems = reading_input([&] {
    return campaign::for_each_result(
        path, [&](const campaign::ResultLine& line) { there.insert(line.text); });
  });
  std::size_t added = 0;
  for (const fs::path& file : files) {
    const auto left_out = reading_input([&] {
      return campaign::for_each_result(file, [&](const campaign::ResultLine& line) {
        if (!there.insert(line.text).second) return;
        results.append(line.text);
        ++added;
      });
    });
    problems.insert(problems.end(), left_out.begin(), left_out.end());
  }
  std::string text;
  for (const std::string& problem : problems) text += printable(problem) + "\n";
  return text + fmt::format("{}: {} results added from {} files of tasks\n", path.string(), added,
                            files.size());
}

// Nobody is left to read the result: the connection is gone.
bool input_has_ended() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&input, 1, 0) <= 0) return false;
  char ignored = 0;
  return (input.revents & POLLIN) == 0 || ::read(STDIN_FILENO, &ignored, 1) <= 0;
}

// Byte by byte, so that nothing behind the line is taken. None at the end.
std::optional<std::string> line_of_input() {
  std::string line;
  char letter = 0;
  while (::read(STDIN_FILENO, &letter, 1) == 1) {
    if (letter == '\n') return line;
    line += letter;
  }
  return std::nullopt;
}

// Cases of a campaign that another machine runs: a line of standard input each, which stays open as
// long as they are wanted; for each its outcome, a line of standard output.
void run_requested_cases() {
  const CleanUpFirst clean_up;
  while (const auto line = line_of_input()) {
    campaign::CaseRequest request = campaign::parse_case_request(*line);
    request.program = running_program();
    const auto outcome =
        campaign::run_case(request, {.stop = [] { return interrupted() || input_has_ended(); }});
    if (!outcome) throw Interrupted();
    write_to_stdout(text_of(*outcome) + "\n");
  }
}

void run_bench(const BenchOptions& options, const std::vector<std::string>& words) {
  if (options.identify) return write_to_stdout(text_of(build_identity()) + "\n");
  if (options.run_cases) return run_requested_cases();
  if (options.submit && options.slurm.empty()) {
    throw InvalidArgument("--submit goes with --slurm FOLDER");
  }
  const Campaign campaign = load_campaign(options);
  if (options.dry_run) return write_to_stdout(list_campaign(options, campaign));
  if (options.merge) return write_to_stdout(merge_tasks(options, campaign));
  if (!options.slurm.empty()) return write_to_stdout(write_slurm(options, campaign));
  std::vector<CaseReport> reports;
  run_command(options.common, words, [&](ResultDocument& document, Progress&) {
    return run_campaign(options, campaign, reports, document);
  });
  require_all_done(reports);
}

std::size_t parse_case_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || number == 0) {
    throw InvalidArgument(fmt::format("'{}' is no number of a case", text));
  }
  return number;
}

void parse_case_range(const std::string& text, campaign::Selection& selection) {
  const std::size_t colon = text.find(':');
  const std::string_view whole = text;
  selection.first = parse_case_number(whole.substr(0, colon));
  selection.last =
      colon == std::string::npos ? selection.first : parse_case_number(whole.substr(colon + 1));
  if (selection.last < selection.first) {
    throw InvalidArgument(fmt::format("'{}' ends before it begins", text));
  }
}

}  // namespace

void add_bench(CommandLine& line) {
  auto options = std::make_shared<BenchOptions>();
  CommandOptions command =
      line.add_command("bench", "Run a campaign: many matrices, commands and settings, resumable");
  command.add("CAMPAIGN", options->file, "The file that says what to run").type_name("");
  command
      .add("--results", options->results,
           "Where results are appended; as the campaign says, or its name with .jsonl")
      .type_name("FILE");
  command.add_flag("--dry-run", options->dry_run, "List the cases and run nothing");
  command
      .add("--only", options->selection.only,
           "Cases whose command line, matrix or host matches; * ? and [ ] as in the shell, without "
           "them a part of it")
      .type_name("PATTERN");
  command.add_flag("--retry-failed", options->selection.retry_failed,
                   "Run cases again that failed before");
  command
      .add_parsed(
          "--case-range",
          [options](const std::string& text) { parse_case_range(text, options->selection); },
          "Cases by their number in the list, both included")
      .type_name("A:B");
  command
      .add("--host", options->host,
           "Run here, whatever hosts the campaign has, and call this machine so in the results")
      .type_name("NAME");
  command
      .add("--slurm", options->slurm, "Write a script for a Slurm job array there, and run nothing")
      .type_name("FOLDER");
  command.add_flag("--submit", options->submit, "Also hand the script to sbatch");
  command.add_flag("--merge", options->merge,
                   "Add what the tasks of a job array have written to the results");
  command.add_flag("--identify", options->identify,
                   "Print version, commit and build as JSON; what campaigns ask other machines");
  command.add_flag("--run-cases", options->run_cases,
                   "Run the cases that standard input describes, a line each; what campaigns ask "
                   "other machines");
  add_output_options(command, options->common);
  command.set_example(
      "strata bench campaigns/quick.json\n"
      "  strata bench campaigns/formats.json --only '*stencil27*' --dry-run\n"
      "  strata bench campaigns/thesis.json --slurm . --submit\n\n"
      "Interrupted or killed, the same command goes on where it was. docs/campaigns.md describes "
      "the file.");
  command.set_work(
      [options](const std::vector<std::string>& words) { run_bench(*options, words); });
}

}  // namespace strata::cli
