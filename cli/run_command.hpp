// What every command does around its own work: threads, progress, the JSON document, and the text
// that people read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/json.hpp"
#include "cli/options.hpp"
#include "cli/terminal.hpp"

namespace strata::cli {

// Runs `work`, which fills the document and returns the text for standard output. Writes both; the
// text is left out when the JSON goes there. Interrupted work leaves the document of what was done.
void run_command(const CommonOptions& options, const std::vector<std::string>& words,
                 const std::function<std::string(ResultDocument&, Progress&)>& work);

}  // namespace strata::cli
