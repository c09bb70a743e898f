// The MATRIX argument: a file or a generator, and the matrix it stands for in the types asked for.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/parts/options.hpp"
#include "cli/parts/terminal.hpp"
#include "strata/formats/any_matrix.hpp"
#include "strata/io/matrix_market.hpp"

namespace strata::cli {

struct MatrixSource {
  std::string argument;                      // as given
  std::string name;                          // the specification, or the file without its ending
  std::optional<MatrixMarketHeader> header;  // of a file
  std::shared_ptr<MatrixMarketFile> file;    // opened once, so that it may be a pipe

  bool generated() const { return !header; }
};

// Opens a file and reads its header. Throws a Failure when there is neither a file nor a generator.
MatrixSource find_matrix(const std::string& argument);

// The precision asked for, or the one that the source needs.
Precision precision_for(const MatrixSource& source, const CommonOptions& options);

// Reads or generates, a file once only. Throws a Failure with status 3 when the file is not a valid
// matrix or does not fit, with status 2 when the specification makes no sense.
AnyMatrix load_matrix(const MatrixSource& source, const CommonOptions& options, Progress& progress);

}  // namespace strata::cli
