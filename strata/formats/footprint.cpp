#include "strata/formats/footprint.hpp"

#include <fmt/format.h>

#include "strata/base/error.hpp"

namespace strata {

void require_fill(const Footprint& footprint, double max_fill, std::string_view format) {
  if (footprint.fill() > max_fill) {
    throw InvalidArgument(
        fmt::format("{} would store {:.1f} values per nonzero, {} bytes in all; max_fill is {}",
                    format, footprint.fill(), footprint.bytes(), max_fill));
  }
}

}  // namespace strata
