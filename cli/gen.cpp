// strata gen: a generated matrix as a file.

#include "strata/gen/generate.hpp"

#include <fmt/format.h>

#include <memory>

#include "cli/parts/commands.hpp"
#include "cli/parts/exit_status.hpp"
#include "cli/parts/writing.hpp"

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
  return text +
         "Keys of all of them:\n"
         "  seed=S, shuffle=1, coefficients=random, coefficients=N (N distinct values)\n";
}

void run_gen(const GenOptions& options, const std::vector<std::string>& words) {
  if (!is_generator_spec(options.spec)) {
    throw Failure(ExitStatus::usage,
                  fmt::format("{}: not a generator; 'strata gen --help' lists them", options.spec));
  }
  run_writing(options.spec, options.writing, options.common, words);
}

}  // namespace

void add_gen(CommandLine& line) {
  auto options = std::make_shared<GenOptions>();
  CommandOptions command =
      line.add_command("gen", "Write a generated matrix as a Matrix Market file");
  command.add("SPEC", options->spec, "The generator and its parameters").type_name("").required();
  command
      .add("-o,--output", options->writing.output,
           "The file to write; compressed when its name ends in .gz")
      .type_name("FILE")
      .required();
  add_writing_options(command, options->writing);
  add_common_options(command, options->common);
  add_type_options(command, options->common);
  command.set_example("strata gen stencil5:100x100 -o poisson.mtx.gz --symmetry auto\n\n" +
                      list_of_generators());
  command.set_work([options](const std::vector<std::string>& words) { run_gen(*options, words); });
}

}  // namespace strata::cli
