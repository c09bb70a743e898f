// The size of a matrix that need not be in memory.
#pragma once

#include "strata/base/types.hpp"

namespace strata {

struct MatrixShape {
  Offset rows = 0;
  Offset cols = 0;

  bool operator==(const MatrixShape&) const = default;
};

}  // namespace strata
