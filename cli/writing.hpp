// What gen and convert share: the options of a written file, and writing it.
#pragma once

#include <optional>
#include <string>

#include "cli/json.hpp"
#include "cli/matrix_source.hpp"

namespace strata::cli {

struct WritingOptions {
  std::string output;
  std::string symmetry;  // "auto", a name of Symmetry, or empty: as the input is stored
  bool pattern = false;  // leave the values out; always so when the input has none
};

// --symmetry, --pattern
void add_writing_options(CLI::App& command, WritingOptions& options);

// Loads the matrix, writes the file, says so.
void run_writing(const std::string& matrix, const WritingOptions& writing,
                 const CommonOptions& common, const std::vector<std::string>& words);

}  // namespace strata::cli
