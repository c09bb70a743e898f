#include "cli/parts/command_line.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>

#include "cli/parts/exit_status.hpp"
#include "cli/parts/ranks.hpp"
#include "cli/parts/terminal.hpp"
#include "strata/base/error.hpp"
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

void set_footer(CLI::App& app, const std::string& example) {
  app.footer("Example:\n  " + example);
}

}  // namespace

DeclaredOption& DeclaredOption::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

DeclaredOption& DeclaredOption::required(bool value) {
  option_->required(value);
  return *this;
}

DeclaredOption& DeclaredOption::show_default() {
  option_->capture_default_str();
  return *this;
}

DeclaredOption& DeclaredOption::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

DeclaredOption& DeclaredOption::one_of(const std::vector<int>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

DeclaredOption& DeclaredOption::range(int first, int last) {
  option_->check(CLI::Range(first, last));
  return *this;
}

DeclaredOption& DeclaredOption::range(double first, double last) {
  option_->check(CLI::Range(first, last));
  return *this;
}

DeclaredOption& DeclaredOption::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

DeclaredOption CommandOptions::add(const std::string& names, std::string& setting,
                                   const std::string& help) {
  return DeclaredOption(command_.add_option(names, setting, help));
}

DeclaredOption CommandOptions::add(const std::string& names, std::vector<std::string>& settings,
                                   const std::string& help) {
  return DeclaredOption(command_.add_option(names, settings, help));
}

DeclaredOption CommandOptions::add(const std::string& names, int& setting,
                                   const std::string& help) {
  return DeclaredOption(command_.add_option(names, setting, help));
}

DeclaredOption CommandOptions::add(const std::string& names, double& setting,
                                   const std::string& help) {
  return DeclaredOption(command_.add_option(names, setting, help));
}

DeclaredOption CommandOptions::add(const std::string& names, std::int64_t& setting,
                                   const std::string& help) {
  return DeclaredOption(command_.add_option(names, setting, help));
}

DeclaredOption CommandOptions::add(const std::string& names, std::uint64_t& setting,
                                   const std::string& help) {
  return DeclaredOption(command_.add_option(names, setting, help));
}

DeclaredOption CommandOptions::add_parsed(const std::string& names,
                                          std::function<void(const std::string& text)> parse,
                                          const std::string& help) {
  return DeclaredOption(command_.add_option_function<std::string>(
      names,
      [names, parse = std::move(parse)](const std::string& text) {
        try {
          parse(text);
        } catch (const Error& error) {
          throw CLI::ValidationError(names, error.what());
        }
      },
      help));
}

void CommandOptions::add_flag(const std::string& names, bool& setting, const std::string& help) {
  command_.add_flag(names, setting, help);
}

void CommandOptions::set_example(const std::string& example) {
  set_footer(command_, example);
}

void CommandOptions::set_work(Work work) {
  if (!ranks_allowed_ && rank_count() > 1) {
    // What it keeps is where the words of the command line go.
    work = [name = command_.get_name(), kept = std::move(work)](const std::vector<std::string>&) {
      throw Failure(ExitStatus::usage,
                    fmt::format("{}: does not run on {} ranks: start it without mpirun or srun",
                                name, rank_count()));
    };
  }
  command_.callback([&chosen = chosen_, work = std::move(work)] { chosen = work; });
}

CommandLine::CommandLine()
    : app_(std::make_unique<CLI::App>(
          "Sparse matrix-vector products and matrix powers that read the matrix once", "strata")) {
  app_->set_version_flag("--version", kVersion, "Print the version and exit");
  app_->require_subcommand(1);
  set_footer(*app_, "strata info stencil5:100x100\n\n'strata COMMAND --help' explains a command.");
}

CommandLine::~CommandLine() = default;

CommandOptions CommandLine::add_command(const std::string& name, const std::string& summary) {
  return {*app_->add_subcommand(name, summary), chosen_};
}

std::function<void()> CommandLine::parse(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  require_command(*app_, words);
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return [text = app_->help()] { write_to_stdout(text); };
  } catch (const CLI::CallForVersion&) {
    return [] { write_to_stdout(fmt::format("strata {}\n", kVersion)); };
  } catch (const CLI::ParseError& error) {
    throw usage_failure(*app_, error);
  }
  return [work = chosen_, words] { work(words); };
}

std::string CommandLine::command_name() const {
  const auto commands = app_->get_subcommands();
  return commands.empty() ? "command line" : commands.front()->get_name();
}

}  // namespace strata::cli
