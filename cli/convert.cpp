// strata convert: a matrix file as another one, plain or compressed, whole or half.

#include <memory>

#include "cli/parts/commands.hpp"
#include "cli/parts/writing.hpp"

namespace strata::cli {

namespace {

struct ConvertOptions {
  CommonOptions common;
  WritingOptions writing;
  std::string input;
};

}  // namespace

void add_convert(CommandLine& line) {
  auto options = std::make_shared<ConvertOptions>();
  CommandOptions command = line.add_command(
      "convert", "Write a matrix as a Matrix Market file; OUT may be the same file as IN");
  add_matrix_argument(command, options->input, "IN");
  command
      .add("OUT", options->writing.output,
           "The file to write; compressed when its name ends in .gz")
      .type_name("")
      .required();
  add_writing_options(command, options->writing);
  add_common_options(command, options->common);
  add_type_options(command, options->common);
  command.set_example("strata convert matrix.mtx.gz half.mtx --symmetry symmetric");
  command.set_work([options](const std::vector<std::string>& words) {
    run_writing(options->input, options->writing, options->common, words);
  });
}

}  // namespace strata::cli
