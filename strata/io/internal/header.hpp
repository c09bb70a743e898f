// The banner and the size line: what a Matrix Market file says about itself.
#pragma once

#include <string>

#include "strata/io/internal/line_blocks.hpp"
#include "strata/io/matrix_market.hpp"

namespace strata::detail {

struct LocatedHeader {
  MatrixMarketHeader header;
  std::string name;            // the file, for errors
  std::int64_t size_line = 0;  // the line of the sizes: the entries start behind it
};

// Takes the lines up to and with the sizes. Throws ParseError, and OverflowError for sizes that do
// not fit 64 bits.
LocatedHeader parse_header(LineBlocks& lines, const std::string& name);

// Throws InvalidMatrix if the matrix is complex and V is not, OverflowError unless the sizes fit I,
// and ParseError when the matrix has so many more rows than entries that its row offsets would be
// out of all proportion to the file.
template <Value V, Index I>
void require_types_fit(const LocatedHeader& located);

}  // namespace strata::detail
