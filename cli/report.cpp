// strata report: results as one page that needs nothing else.

#include <fmt/format.h>

#include <memory>
#include <sstream>

#include "cli/parts/commands.hpp"
#include "cli/parts/exit_status.hpp"
#include "cli/parts/options.hpp"
#include "cli/parts/run_command.hpp"
#include "cli/parts/this_program.hpp"
#include "cli/parts/writing.hpp"
#include "strata/base/error.hpp"
#include "strata/campaign/process.hpp"
#include "strata/io/read_text.hpp"
#include "strata/io/replace_file.hpp"
#include "strata/report/page.hpp"

namespace strata::cli {

namespace fs = std::filesystem;

namespace {

struct ReportOptions {
  CommonOptions common;
  std::vector<std::string> files;
  std::string output = "report.html";
  std::string title = "Strata";
  std::string figures;  // a folder; empty: none
  std::string only;     // names of figures, separated by commas; empty: all that have data
};

fs::path page_template() {
  const fs::path path = report::template_path(installed_program());
  if (path.empty()) {
    throw Unavailable(
        "this program was built without its page: node and npm were not found, or npm could not "
        "get what the page is made of");
  }
  return path;
}

campaign::ProcessResult run_tool(const std::vector<std::string>& words) {
  const campaign::ProcessResult result = campaign::run_process({.words = words});
  if (result.ending != campaign::Ending::exited || result.status != 0) {
    throw Error(fmt::format("{} failed: {}", words.front(), result.error));
  }
  return result;
}

bool is_installed(const std::string& program) {
  try {
    run_tool({program, "--version"});
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The program that draws says itself what is wrong with the names and the data it is given: its
// statuses for that are those of this command. Returns the names of the files it has written.
std::string draw_figures(const fs::path& folder, const std::vector<std::string>& names,
                         const std::string& data) {
  const fs::path input = folder / "figures.json";
  std::vector<std::string> words{"node", page_template().parent_path() / "figures.mjs",
                                 input.string(), folder.string()};
  words.insert(words.end(), names.begin(), names.end());
  replace_file(input, data);
  const campaign::ProcessResult result = campaign::run_process({.words = words});
  fs::remove(input);
  if (result.ending != campaign::Ending::exited) throw Error("drawing figures was interrupted");
  for (const ExitStatus status : {ExitStatus::usage, ExitStatus::input}) {
    if (result.status == static_cast<int>(status)) throw Failure(status, "report: " + result.error);
  }
  if (result.status != 0) throw Error(fmt::format("drawing figures failed: {}", result.error));
  return result.output;
}

// Figures as SVG, and as PNG where rsvg-convert is installed: those of these names, or all that
// have data. Returns what it has done.
std::string write_figures(const fs::path& folder, const std::vector<std::string>& names,
                          const std::string& data) {
  if (!is_installed("node"))
    throw Unavailable("figures as files are drawn by node, which is missing");
  fs::create_directories(folder);
  const std::string list = draw_figures(folder, names, data);
  const bool drawn_as_pixels = is_installed("rsvg-convert");
  std::istringstream lines(list);
  int count = 0;
  for (std::string file; std::getline(lines, file); ++count) {
    if (!drawn_as_pixels) continue;
    const std::string png = fs::path(file).replace_extension(".png").string();
    run_tool({"rsvg-convert", "--zoom=2", "--output=" + png, file});
  }
  return fmt::format("{} {} in {} as SVG{}\n", count, count == 1 ? "figure is" : "figures are",
                     folder.string(),
                     drawn_as_pixels ? " and PNG" : "; rsvg-convert would add PNG");
}

std::vector<std::string> figure_names(const ReportOptions& options) {
  if (options.only.empty()) return {};
  if (options.figures.empty()) {
    throw InvalidArgument("--only chooses among figures that are written: add --figures FOLDER");
  }
  return split_list(options.only);
}

std::string run_report(const ReportOptions& options, ResultDocument& document, Progress& progress) {
  const std::vector<std::string> figures = figure_names(options);
  const std::string page_text = read_input([] { return read_text(page_template()); });
  progress.start("reading results");
  std::vector<std::string> problems;
  const std::string data = read_input([&] {
    return report::page_data({options.files.begin(), options.files.end()}, {.title = options.title},
                             problems);
  });
  progress.start("writing the page");
  const std::string page = report::page_with(page_text, data);
  const CleanUpTemporary clean_up(options.output);
  replace_file(options.output, page);
  document.add_result({{"kernel", "report"},
                       {"file", options.output},
                       {"bytes", page.size()},
                       {"problems", problems.size()}});
  std::string text;
  for (const std::string& problem : problems) text += problem + "\n";
  text += fmt::format("{} has the report, {}\n", options.output,
                      bytes_text(static_cast<Offset>(page.size())));
  if (options.figures.empty()) return text;
  progress.start("drawing figures");
  return text + write_figures(options.figures, figures, data);
}

}  // namespace

void add_report(CommandLine& line) {
  auto options = std::make_shared<ReportOptions>();
  CommandOptions command =
      line.add_command("report", "Write results as one page with figures, tables and filters");
  command.add("RESULTS", options->files, "Results: of commands, of campaigns, or collected")
      .required();
  command.add("-o,--output", options->output, "The page").type_name("FILE").show_default();
  command.add("--title", options->title, "Of the page").type_name("TEXT").show_default();
  command
      .add("--figures", options->figures,
           "Write every figure as SVG, and as PNG where rsvg-convert is installed; needs node")
      .type_name("FOLDER");
  command
      .add("--only", options->only,
           "Of --figures those of these names, as the files have them: products,profiles")
      .type_name("FIGURE,…");
  add_output_options(command, options->common);
  command.set_example(
      "strata spmv stencil27:64x64x64 --json spmv.json\n"
      "  strata report spmv.json -o report.html");
  set_work(command, options, run_report);
}

}  // namespace strata::cli
