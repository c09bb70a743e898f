#include "cli/parts/run_command.hpp"

#include "cli/parts/interruption.hpp"
#include "strata/base/parallel.hpp"

namespace strata::cli {

void run_command(const CommonOptions& options, const std::vector<std::string>& words,
                 const std::function<std::string(ResultDocument&, Progress&)>& work) {
  set_thread_count(options.threads);
  ResultDocument document(options.json, words);
  std::string text;
  try {
    Progress progress(options.quiet);
    text = work(document, progress);
  } catch (const Interrupted&) {
    claim_the_end();
    document.write_interrupted();
    throw;
  }
  claim_the_end();
  document.write();
  if (!options.json_on_stdout()) write_to_stdout(text);
}

}  // namespace strata::cli
