// The command line as commands declare it. CLI11 stays behind this header: its objects of global
// scope cost every file that includes it three seconds of compilation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace strata::cli {

// An option that was declared, to say more about it.
class DeclaredOption {
 public:
  explicit DeclaredOption(CLI::Option* option) : option_(option) {}

  DeclaredOption& type_name(const std::string& name);
  DeclaredOption& required(bool value = true);
  DeclaredOption& show_default();
  DeclaredOption& one_of(const std::vector<std::string>& values);
  DeclaredOption& one_of(const std::vector<int>& values);
  DeclaredOption& range(int first, int last);
  DeclaredOption& range(double first, double last);
  DeclaredOption& positive();

 private:
  CLI::Option* option_;
};

// One command. `names` are those of CLI11: "-p,--power"; without hyphens it is an argument.
class CommandOptions {
 public:
  // What runs a command; `words` is the command line, for the JSON.
  using Work = std::function<void(const std::vector<std::string>& words)>;

  CommandOptions(CLI::App& command, Work& chosen) : command_(command), chosen_(chosen) {}

  DeclaredOption add(const std::string& names, std::string& setting, const std::string& help);
  DeclaredOption add(const std::string& names, int& setting, const std::string& help);
  DeclaredOption add(const std::string& names, double& setting, const std::string& help);
  DeclaredOption add(const std::string& names, std::int64_t& setting, const std::string& help);
  DeclaredOption add(const std::string& names, std::uint64_t& setting, const std::string& help);
  // Any number of words.
  DeclaredOption add(const std::string& names, std::vector<std::string>& settings,
                     const std::string& help);
  // `parse` turns the text into a setting; an Error that it throws is wrong usage.
  DeclaredOption add_parsed(const std::string& names,
                            std::function<void(const std::string& text)> parse,
                            const std::string& help);
  void add_flag(const std::string& names, bool& setting, const std::string& help);

  // What `--help` shows after the options.
  void set_example(const std::string& example);
  // When the command line asks for the command, this is what is run. Commands that do not say that
  // several ranks may run them together are refused on more than one.
  void set_work(Work work);
  void allow_ranks() { ranks_allowed_ = true; }

 private:
  CLI::App& command_;
  Work& chosen_;
  bool ranks_allowed_ = false;
};

class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  CommandOptions add_command(const std::string& name, const std::string& summary);
  // What the words ask for, ready to run. Throws a Failure for wrong usage.
  std::function<void()> parse(int argc, char** argv);
  // The command that the words ask for, to blame in messages.
  std::string command_name() const;

 private:
  std::unique_ptr<CLI::App> app_;
  CommandOptions::Work chosen_;
};

}  // namespace strata::cli
