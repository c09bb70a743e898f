// The matrix of a command with its statistics, as all commands but gen and convert begin.
#pragma once

#include "cli/parts/document.hpp"
#include "cli/parts/matrix_source.hpp"
#include "cli/parts/terminal.hpp"
#include "strata/formats/statistics.hpp"

namespace strata::cli {

struct CountedMatrix {
  AnyMatrix matrix;
  MatrixStatistics statistics;
  double load_seconds = 0;  // to generate or read it
};

// Loads a matrix and counts it. Each step adds what it found to the document, so that an
// interruption loses one step at most. Throws a Failure for a matrix whose vectors are beyond 64
// bits of bytes, as a file may claim.
CountedMatrix load_and_count(const MatrixSource& source, const CommonOptions& options,
                             ResultDocument& document, Progress& progress);

}  // namespace strata::cli
