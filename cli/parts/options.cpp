#include "cli/parts/options.hpp"

#include <limits>

namespace strata::cli {

void add_common_options(CommandOptions& command, CommonOptions& options) {
  command.add("--threads", options.threads, "Threads to use; all cores when not given")
      .type_name("N")
      .range(1, std::numeric_limits<int>::max());  // the library knows the largest
  add_output_options(command, options);
}

void add_output_options(CommandOptions& command, CommonOptions& options) {
  command.add("--json", options.json, "Write the result as JSON; - is standard output")
      .type_name("FILE");
  command.add_flag("--quiet", options.quiet, "Show no progress and no remarks");
}

void add_device_option(CommandOptions& command, CommonOptions& options) {
  command.add("--device", options.device, "The GPU to use, numbered from 0")
      .type_name("N")
      .range(0, 65535)
      .show_default();
}

void add_type_options(CommandOptions& command, CommonOptions& options) {
  command
      .add_parsed(
          "--precision",
          [&options](const std::string& name) { options.precision = precision_named(name); },
          "Type of the values; double when not given, complex-double for complex files")
      .type_name("TYPE")
      .one_of({"complex-double", "complex-single", "double", "single"});
  command.add("--index", options.index_bits, "Bits of row and column indices")
      .type_name("BITS")
      .one_of({32, 64})
      .show_default();
}

void add_measuring_options(CommandOptions& command, MeasuringOptions& options) {
  command.add("--min-time", options.min_seconds, "Time every candidate for at least this long")
      .type_name("SECONDS")
      .range(0.0, 3600.0)
      .show_default();
  command.add("--seed", options.seed, "Seed of the random vectors").type_name("S").show_default();
  command.add_flag("--validate,!--no-validate", options.validate,
                   "Compare the results with reference products (the default), or do not");
}

DeclaredOption add_matrix_argument(CommandOptions& command, std::string& matrix,
                                   const std::string& name) {
  return command
      .add(name, matrix,
           "A Matrix Market file (.mtx, .mtx.gz) or a generator such as stencil5:100x100")
      .type_name("")
      .required();
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    words.push_back(text.substr(begin, end - begin));
  }
  return words;
}

}  // namespace strata::cli
