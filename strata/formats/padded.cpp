#include "strata/formats/padded.hpp"

#include <fmt/format.h>

#include "strata/base/error.hpp"

namespace strata::detail {

void throw_bad_length(Offset row, Offset length, Offset width) {
  throw InvalidMatrix(fmt::format("row {}: length {} is outside 0 … {}", row, length, width));
}

void throw_padding_not_zero(Offset row) {
  throw InvalidMatrix(fmt::format("row {}: padding after the last entry is not zero", row));
}

}  // namespace strata::detail
