// The commands. Each `add_…` declares its options below `app`; when the command line asks for the
// command, it puts into `chosen` what is to be run.
#pragma once

#include <functional>

#include "cli/options.hpp"

namespace strata::cli {

// `words` is the command line, for the JSON.
using Command = std::function<void(const std::vector<std::string>& words)>;

void add_info(CLI::App& app, Command& chosen);
void add_gen(CLI::App& app, Command& chosen);
void add_convert(CLI::App& app, Command& chosen);
void add_machine(CLI::App& app, Command& chosen);
void add_mpk(CLI::App& app, Command& chosen);
void add_explain(CLI::App& app, Command& chosen);
void add_model(CLI::App& app, Command& chosen);
void add_spmv(CLI::App& app, Command& chosen);

}  // namespace strata::cli
