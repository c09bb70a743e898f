// What commands find out about a matrix, whatever its types.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/parts/document.hpp"
#include "cli/parts/matrix_source.hpp"
#include "cli/parts/terminal.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/format_spec.hpp"
#include "strata/formats/statistics.hpp"

namespace strata::cli {

// The sizes of the types that decide how many bytes a product moves.
struct TypeSizes {
  Offset value_bytes = 0;
  Offset index_bytes = 0;
  double flops_per_entry = 2;  // one multiplication and one addition: 8 operations if complex
};

struct LevelSummary {
  Offset count = 0;
  Offset max_rows = 0;         // of a level
  Offset max_window_rows = 0;  // of three levels in a row
  Offset components = 0;
  std::string root;  // where the search started
};

struct FormatSummary {
  FormatSummary() = default;
  explicit FormatSummary(FormatSpec chosen) : spec(std::move(chosen)), label(label_of(spec)) {}

  FormatSpec spec;
  std::string label;                   // "packed SELL-32", or the name of a library
  std::optional<Footprint> footprint;  // none when the format cannot hold the matrix
  std::string refusal;                 // why not
  std::vector<NamedNumber> encodings;  // slices per encoding of packed SELL
};

struct CountedMatrix {
  AnyMatrix matrix;
  MatrixStatistics statistics;
};
// Loads a matrix and counts it. Each step adds what it found to the document, so that an
// interruption loses one step at most.
CountedMatrix load_and_count(const MatrixSource& source, const CommonOptions& options,
                             ResultDocument& document, Progress& progress);

TypeSizes sizes_of(const AnyMatrix& matrix);
MatrixStatistics find_statistics(const AnyMatrix& matrix);
// None for matrices that are not square.
std::optional<LevelSummary> find_level_profile(const AnyMatrix& matrix);
std::vector<std::string> draw(const AnyMatrix& matrix);
void draw_to_file(const AnyMatrix& matrix, const std::string& path);

// One format at a time, so that there is something to show when the rest is interrupted.
void measure_format(const AnyMatrix& matrix, FormatSummary& format);

// Bytes of the vectors of a product y = Ax, each touched once.
Offset vector_bytes(const MatrixStatistics& statistics, const TypeSizes& sizes);
// What a product cannot do without: every value, x and y once.
Offset minimum_bytes(const MatrixStatistics& statistics, const TypeSizes& sizes);
// The code balance of CSR in bytes per flop when x is loaded once (Kreutzer, Hager, Wellein et al.,
// SIAM J. Sci. Comput. 36(5), 2014, eq. 1 with α = cols / nnz): index and value per entry; x once;
// y loaded and stored, and one row offset, per row.
double csr_code_balance(const MatrixStatistics& statistics, const TypeSizes& sizes);

}  // namespace strata::cli
