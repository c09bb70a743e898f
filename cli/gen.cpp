// strata gen: a generated matrix as a file.

#include "strata/gen/generate.hpp"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "cli/writing.hpp"

namespace strata::cli {

namespace {

struct GenOptions {
  CommonOptions common;
  WritingOptions writing;
  std::string spec;
};

std::string list_of_generators() {
  std::string text = "Generators:\n";
  for (const GeneratorHelp& generator : generator_help()) {
    text += fmt::format("  {:<44} {}\n", generator.usage, generator.summary);
  }
  return text;
}

void run_gen(const GenOptions& options, const std::vector<std::string>& words) {
  if (!is_generator_spec(options.spec)) {
    throw Failure(ExitStatus::usage,
                  fmt::format("{}: is no generator; 'strata gen --help' lists them", options.spec));
  }
  run_writing(options.spec, options.writing, options.common, words);
}

}  // namespace

void add_gen(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<GenOptions>();
  CLI::App* command = app.add_subcommand("gen", "Write a generated matrix as a Matrix Market file");
  command->add_option("SPEC", options->spec, "The generator and its parameters")
      ->type_name("")
      ->required();
  command
      ->add_option("-o,--output", options->writing.output,
                   "The file to write; compressed when its name ends in .gz")
      ->type_name("FILE")
      ->required();
  add_writing_options(*command, options->writing);
  add_common_options(*command, options->common);
  add_type_options(*command, options->common);
  set_example(*command, "strata gen stencil5:100x100 -o poisson.mtx.gz --symmetry auto\n\n" +
                            list_of_generators());
  command->callback([options, &chosen] {
    chosen = [options](const std::vector<std::string>& words) { run_gen(*options, words); };
  });
}

}  // namespace strata::cli
