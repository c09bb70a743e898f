// What a person wants to know about a matrix at first sight, and what a plan wants to know before
// it chooses a format: row lengths, bandwidth, symmetry, zeros.
#pragma once

#include <algorithm>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/symmetry.hpp"

namespace strata {

// Rows with first … last entries.
struct LengthBin {
  Offset first = 0;
  Offset last = 0;
  Offset rows = 0;

  bool operator==(const LengthBin&) const = default;
};

// How long the rows are. Quartiles are lengths that occur (nearest rank). All zero without rows.
struct RowLengths {
  Offset min = 0;
  Offset lower_quartile = 0;
  Offset median = 0;
  Offset upper_quartile = 0;
  Offset max = 0;
  double mean = 0;
  double stddev = 0;  // of all rows, not of a sample
  // Bins that touch each other and cover min … max: one per length while that makes few of them,
  // then equally wide ones, and powers of two when the longest row is far from the others.
  std::vector<LengthBin> histogram;

  bool operator==(const RowLengths&) const = default;
};

struct MatrixStatistics {
  Offset rows = 0;
  Offset cols = 0;
  Offset entries = 0;
  Offset zeros = 0;       // entries whose value is 0
  Offset non_finite = 0;  // entries that are infinite or not a number
  Offset empty_rows = 0;
  Offset empty_cols = 0;
  RowLengths row_lengths = {};

  Offset lower_bandwidth = 0;   // the largest row − column of an entry, at least 0
  Offset upper_bandwidth = 0;   // the largest column − row of an entry, at least 0
  Offset diagonal_entries = 0;  // entries (i, i)
  Offset diagonal_zeros = 0;    // those of them whose value is 0
  Offset mirrored_entries = 0;  // entries (i, j) for which (j, i) is an entry too

  bool pattern_symmetric = false;
  // The symmetry that all values have, exactly. A complex matrix that is both symmetric and
  // hermitian (all values real) counts as symmetric; rectangular ones are general.
  Symmetry value_symmetry = Symmetry::general;

  Offset bandwidth() const { return std::max(lower_bandwidth, upper_bandwidth); }
  // The share of entries that have a mirror image; 1 without entries.
  double mirrored_share() const {
    return entries == 0 ? 1.0
                        : static_cast<double>(mirrored_entries) / static_cast<double>(entries);
  }

  bool operator==(const MatrixStatistics&) const = default;
};

// Needs at most 8 bytes per entry of memory, whatever the number of columns, and per entry below
// the diagonal a search in another row.
template <Value V, Index I>
MatrixStatistics statistics_of(const Csr<V, I>& matrix);

}  // namespace strata
