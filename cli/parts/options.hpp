// The options that commands share, each declared once. A command adds the groups it understands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/parts/command_line.hpp"
#include "strata/formats/any_matrix.hpp"

namespace strata::cli {

struct CommonOptions {
  int threads = 0;                     // 0: all cores
  std::optional<Precision> precision;  // not given: double, or complex-double for complex files
  int index_bits = 32;                 // of row and column indices
  std::string json;                    // "-" is standard output, empty is none
  bool quiet = false;                  // no progress, no remarks
  int device = 0;                      // the GPU to use

  bool json_on_stdout() const { return json == "-"; }
};

// How a benchmark times and checks.
struct MeasuringOptions {
  double min_seconds = 0.5;  // of every candidate, all its repetitions together
  std::uint64_t seed = 1;    // of the vectors
  bool validate = true;      // compare with reference products
};

// --json, --quiet
void add_output_options(CommandOptions& command, CommonOptions& options);
// These and --threads
void add_common_options(CommandOptions& command, CommonOptions& options);
// --device
void add_device_option(CommandOptions& command, CommonOptions& options);
// --precision, --index
void add_type_options(CommandOptions& command, CommonOptions& options);
// --min-time, --seed, --validate, --no-validate
void add_measuring_options(CommandOptions& command, MeasuringOptions& options);
// MATRIX, as the contract of all commands has it; required unless the command changes that
DeclaredOption add_matrix_argument(CommandOptions& command, std::string& matrix,
                                   const std::string& name = "MATRIX");

// The words between commas.
std::vector<std::string> split_list(const std::string& text);

}  // namespace strata::cli
