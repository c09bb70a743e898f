// The problem of the HPCG benchmark on a ladder of grids: the 27-point operator (gen/stencil.cpp)
// on a box, and on boxes with half as many points along each axis, of which each point is one of
// the finer box, at twice its coordinates.
//
//   M. Heroux, J. Dongarra, P. Luszczek: HPCG Technical Specification, Sandia report SAND2013-8752
#pragma once

#include <cstdint>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/gen/grid.hpp"

namespace strata::hpcg {

using Row = std::int32_t;
using Matrix = Csr<double, Row>;

inline constexpr int kMostLevels = 4;
// Of every dimension, on every level: HPCG's smallest grid, of 16 points, ends with these.
inline constexpr Offset kFewestPoints = 2;

struct Level {
  Grid grid;
  Matrix matrix;
};

// How many grids there are from this one on: each dimension has to be even for another one.
int level_count(const Grid& finest, int most = kMostLevels);

// The finest level first. Throws InvalidArgument for fewer points than kFewestPoints along an axis
// and OverflowError for more rows than 32 bits count.
std::vector<Level> make_levels(const Grid& finest, int most = kMostLevels);

// The point of the finer grid that a point of the coarser one is.
Offset fine_point(const Grid& fine, const Grid& coarse, Offset point);

}  // namespace strata::hpcg
