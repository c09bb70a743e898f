// What every command does around its own work: threads, progress, the JSON document, and the text
// that people read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/parts/commands.hpp"
#include "cli/parts/document.hpp"
#include "cli/parts/options.hpp"
#include "cli/parts/terminal.hpp"

namespace strata::cli {

// Runs `work`, which fills the document and returns the text for standard output. Writes both; the
// text is left out when the JSON goes there. Interrupted work leaves the document of what was done.
void run_command(const CommonOptions& options, const std::vector<std::string>& words,
                 const std::function<std::string(ResultDocument&, Progress&)>& work);

// The same as what a command is for.
template <class Options>
void set_work(CommandOptions& command, const std::shared_ptr<Options>& options,
              std::string (*work)(const Options&, ResultDocument&, Progress&)) {
  command.set_work([options, work](const std::vector<std::string>& words) {
    run_command(options->common, words, [&](ResultDocument& document, Progress& progress) {
      return work(*options, document, progress);
    });
  });
}

}  // namespace strata::cli
