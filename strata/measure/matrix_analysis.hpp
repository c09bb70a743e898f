// What can be said about a matrix without running anything, whatever its types: the work of a
// product, statistics, levels, and the bytes in every format.
//
//   const strata::AnyMatrix matrix = strata::generate<double, std::int32_t>("stencil5:64x64");
//   const strata::MatrixStatistics statistics = strata::statistics_of(matrix);
//   for (const strata::FormatSpec& spec : strata::usual_specs(statistics)) {
//     const strata::FormatSummary format = strata::format_summary(matrix, spec);
//     if (format.footprint) std::cout << format.label << format.footprint->bytes() << '\n';
//   }
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/formats/any_matrix.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/format_spec.hpp"
#include "strata/formats/slice_encodings.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/kernels/has_kernel.hpp"

namespace strata {

// What one product y = Ax computes and has to move.
struct ProductWork {
  Offset rows = 0;
  Offset cols = 0;
  Offset entries = 0;
  Offset value_bytes = 8;
  Offset index_bytes = 4;
  double flops_per_entry = 2;  // one multiplication and one addition: 8 operations if complex

  double flops() const { return flops_per_entry * static_cast<double>(entries); }
  // Of x and y, each touched once. Throws OverflowError beyond 64 bits, which the sizes of a matrix
  // can be even if it has few entries.
  Offset vector_bytes() const;
  // Every value as it is, x and y once: what no format can do without that does not encode values.
  // Throws OverflowError likewise.
  Offset minimum_bytes() const;
  // Bytes per flop of CSR when x is loaded once: crs_balance of model/balance.hpp with
  // α = cols / entries. Throws InvalidArgument without entries.
  double csr_balance() const;
};

template <Value V, Index I>
ProductWork work_of(const Csr<V, I>& matrix) {
  return {.rows = matrix.rows(),
          .cols = matrix.cols(),
          .entries = matrix.nnz(),
          .value_bytes = sizeof(V),
          .index_bytes = sizeof(I),
          .flops_per_entry = is_complex<V> ? 8.0 : 2.0};
}
ProductWork work_of(const AnyMatrix& matrix);

MatrixStatistics statistics_of(const AnyMatrix& matrix);

// Told apart by their bits; none if there are more than kLargestValueTable.
std::optional<Offset> distinct_values(const AnyMatrix& matrix);

// The level structure that powers sweep through.
struct LevelSummary {
  Offset count = 0;
  Offset max_rows = 0;         // of a level
  Offset max_window_rows = 0;  // of three consecutive levels
  Offset components = 0;
  std::string root = {};          // where the search started
  std::vector<Offset> rows = {};  // of every level
};
// None for matrices that are not square.
std::optional<LevelSummary> level_summary(const AnyMatrix& matrix);

// The bytes of a matrix in some format, known without building it.
struct FormatSummary {
  FormatSpec spec;
  std::string label;                             // "packed SELL-32"
  std::optional<Footprint> footprint = {};       // none when the format cannot hold the matrix
  std::string refusal = {};                      // why not
  std::optional<SliceEncodings> encodings = {};  // of packed SELL
};
FormatSummary format_summary(const AnyMatrix& matrix, const FormatSpec& spec);

// Of the usual formats that have a fast kernel on the target.
std::vector<FormatSummary> summaries_with_kernel(const AnyMatrix& matrix,
                                                 const MatrixStatistics& statistics,
                                                 KernelTarget target);
// The one of them that takes the fewest bytes.
FormatSpec smallest_format(const AnyMatrix& matrix, const MatrixStatistics& statistics,
                           KernelTarget target);

}  // namespace strata
