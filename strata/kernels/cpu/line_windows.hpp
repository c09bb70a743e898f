// Cuts of the lines of a matrix for products that add into many elements of the result per line:
// the columns of CSC, the rows of a transposed product, the rows of a symmetric triangle.
//
// Each part of the lines adds into a window of its own, the rows of the result from the first to
// the last that it touches, and the windows are then added up in the order of the parts. Parts
// depend on the matrix alone, so that results do not depend on the number of threads. There are as
// many as threads could use while all windows together stay small beside the matrix: for a band
// they hardly overlap, for a random matrix each is as long as the result.
#pragma once

#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"

namespace strata::cpu {

inline constexpr int kMostLineParts = 128;

struct LineWindows {
  struct Part {
    RowRange<Offset> lines = {};
    RowRange<Offset> rows = {};  // of the result: the window
  };
  std::vector<Part> parts;  // at most kMostLineParts
  Offset window_rows = 0;   // of all windows together

  int count() const { return static_cast<int>(parts.size()); }
};

// What lines touch: the rows that their columns name, and themselves in a symmetric triangle.
enum class Touched { columns, columns_and_line };

// Lines are the rows of `matrix`.
template <Value V, Index I>
LineWindows line_windows_of(const Csr<V, I>& matrix, Touched touched);

}  // namespace strata::cpu
