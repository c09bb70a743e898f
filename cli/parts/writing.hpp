// What commands share that write files: the options of a written matrix, writing it, and leaving
// nothing half-written behind.
#pragma once

#include <optional>
#include <string>

#include "cli/parts/document.hpp"
#include "cli/parts/interruption.hpp"
#include "cli/parts/matrix_source.hpp"

namespace strata::cli {

struct WritingOptions {
  std::string output;
  std::string symmetry;  // "auto", a name of Symmetry, or empty: as the input is stored
  bool pattern = false;  // leave the values out; always so when the input has none
};

// While one exists, an interruption waits until the temporary file beside `output` is gone. Where
// there is none, as with a pipe that nobody reads, it need not wait.
class CleanUpTemporary {
 public:
  explicit CleanUpTemporary(const std::string& output);

 private:
  std::optional<CleanUpFirst> clean_up_;
};

// --symmetry, --pattern
void add_writing_options(CommandOptions& command, WritingOptions& options);

// Loads the matrix, writes the file, says so on standard output unless that is the file.
void run_writing(const std::string& matrix, const WritingOptions& writing,
                 const CommonOptions& common, const std::vector<std::string>& words);

}  // namespace strata::cli
