// The strata command: finds the command asked for, runs it, and turns what goes wrong into one line
// on standard error and an exit status.

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "cli/interruption.hpp"
#include "cli/memory_limit.hpp"
#include "cli/terminal.hpp"
#include "strata/base/version.hpp"

namespace strata::cli {

namespace {

// Throws a Failure for a first word that is no command: CLI11 would only call it unexpected.
void require_command(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.size() < 2) {
    throw Failure(ExitStatus::usage, "no command given: try 'strata --help'");
  }
  const std::string& word = words[1];
  if (word.starts_with("-")) return;
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  if (std::ranges::none_of(commands, [&](const auto* c) { return c->check_name(word); })) {
    throw Failure(ExitStatus::usage, word + ": no such command: 'strata --help' lists them");
  }
}

Failure usage_failure(const CLI::App& app, const CLI::ParseError& error) {
  const auto commands = app.get_subcommands();
  const std::string command =
      commands.empty() ? "strata" : "strata " + commands.front()->get_name();
  const std::string what = commands.empty() ? "" : commands.front()->get_name() + ": ";
  return Failure(ExitStatus::usage,
                 fmt::format("{}{}: try '{} --help'", what, error.what(), command));
}

// Parses and runs. --help and --version are done after parsing.
void run(CLI::App& app, int argc, char** argv) {
  Command chosen;
  add_info(app, chosen);
  add_gen(app, chosen);
  add_convert(app, chosen);
  add_machine(app, chosen);
  add_mpk(app, chosen);
  add_explain(app, chosen);
  add_model(app, chosen);
  add_spmv(app, chosen);
  const std::vector<std::string> words(argv, argv + argc);
  require_command(app, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return write_to_stdout(app.help());
  } catch (const CLI::CallForVersion&) {
    return write_to_stdout(fmt::format("strata {}\n", kVersion));
  } catch (const CLI::ParseError& error) {
    throw usage_failure(app, error);
  }
  chosen(words);
}

std::string command_name(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? "command line" : commands.front()->get_name();
}

}  // namespace

}  // namespace strata::cli

int main(int argc, char** argv) {
  using namespace strata::cli;
  // Writing to a closed pipe or beyond a limit is an error like any other, not a reason to die.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
#ifndef __SANITIZE_ADDRESS__  // which reserves far more than the machine has
  limit_memory();
#endif
  watch_for_interruption();
  CLI::App app("Sparse matrix-vector products and matrix powers that read the matrix once",
               "strata");
  app.set_version_flag("--version", strata::kVersion, "Print the version and exit");
  app.require_subcommand(1);
  set_example(app, "strata info stencil5:100x100\n\n'strata COMMAND --help' explains a command.");
  try {
    run(app, argc, argv);
    return static_cast<int>(ExitStatus::done);
  } catch (...) {
    const Failure failure = failure_from(std::current_exception(), command_name(app));
    fmt::print(stderr, "strata: {}\n", failure.what());
    return static_cast<int>(failure.status());
  }
}
