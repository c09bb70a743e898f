// strata report: results as one page that needs nothing else.

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <memory>

#include "cli/parts/commands.hpp"
#include "cli/parts/exit_status.hpp"
#include "cli/parts/run_command.hpp"
#include "cli/parts/this_program.hpp"
#include "cli/parts/writing.hpp"
#include "strata/base/error.hpp"
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
};

std::string template_text() {
  const fs::path path = report::template_path(installed_program());
  if (path.empty()) {
    throw Unavailable(
        "this program was built without its page: node and npm were not found, or npm could not "
        "get what the page is made of");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw FileError(path.string(), "cannot be read");
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string run_report(const ReportOptions& options, ResultDocument& document, Progress& progress) {
  const std::string page_template = template_text();
  progress.start("reading results");
  std::vector<std::string> problems;
  const std::string data = report::page_data({options.files.begin(), options.files.end()}, {.title = options.title}, problems);
  progress.start("writing the page");
  const std::string page = report::page_with(page_template, data);
  const CleanUpTemporary clean_up(options.output);
  replace_file(options.output, page);
  document.add_result({{"kernel", "report"},
                       {"file", options.output},
                       {"bytes", page.size()},
                       {"problems", problems.size()}});
  std::string text;
  for (const std::string& problem : problems) text += problem + "\n";
  return text + fmt::format("{} has the report, {}\n", options.output,
                            bytes_text(static_cast<Offset>(page.size())));
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
  add_output_options(command, options->common);
  command.set_example(
      "strata spmv stencil27:64x64x64 --json spmv.json\n"
      "  strata report spmv.json -o report.html");
  set_work(command, options, run_report);
}

}  // namespace strata::cli
