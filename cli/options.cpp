#include "cli/options.hpp"

#include <CLI/Validators.hpp>
#include <limits>
#include <map>

namespace strata::cli {

namespace {

const std::map<std::string, Precision>& precisions() {
  static const std::map<std::string, Precision> names = [] {
    std::map<std::string, Precision> by_name;
    for (const Precision precision : {Precision::double_real, Precision::single_real,
                                      Precision::double_complex, Precision::single_complex}) {
      by_name.emplace(name_of(precision), precision);
    }
    return by_name;
  }();
  return names;
}

}  // namespace

void add_common_options(CLI::App& command, CommonOptions& options) {
  command.add_option("--threads", options.threads, "Threads to use; all cores when not given")
      ->type_name("N")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));  // the library knows the largest
  command.add_option("--json", options.json, "Write the result as JSON; - is standard output")
      ->type_name("FILE");
  command.add_flag("--quiet", options.quiet, "Show no progress and no remarks");
}

void add_device_option(CLI::App& command, CommonOptions& options) {
  command.add_option("--device", options.device, "The GPU to use, numbered from 0")
      ->type_name("N")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
}

void add_type_options(CLI::App& command, CommonOptions& options) {
  command
      .add_option_function<std::string>(
          "--precision",
          [&options](const std::string& name) { options.precision = precisions().at(name); },
          "Type of the values; double when not given, complex-double for complex files")
      ->type_name("TYPE")
      ->check(CLI::IsMember(precisions()));
  command.add_option("--index", options.index_bits, "Bits of row and column indices")
      ->type_name("BITS")
      ->check(CLI::IsMember({32, 64}))
      ->capture_default_str();
}

void add_measuring_options(CLI::App& command, MeasuringOptions& options) {
  command
      .add_option("--min-time", options.min_seconds, "Time every candidate for at least this long")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of the random vectors")
      ->type_name("S")
      ->capture_default_str();
  command.add_flag("--validate,!--no-validate", options.validate,
                   "Compare the results with reference products (the default), or do not");
}

CLI::Option* add_matrix_argument(CLI::App& command, std::string& matrix, const std::string& name) {
  return command
      .add_option(name, matrix,
                  "A Matrix Market file (.mtx, .mtx.gz) or a generator such as stencil5:100x100")
      ->type_name("")
      ->required();
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

void set_example(CLI::App& command, const std::string& example) {
  command.footer("Example:\n  " + example);
}

}  // namespace strata::cli
