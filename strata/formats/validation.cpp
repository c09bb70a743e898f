#include "strata/formats/validation.hpp"

#include <fmt/format.h>

#include "strata/base/error.hpp"

namespace strata {

namespace detail {

void throw_outside(const LineNames& names, Offset line, Offset index, Offset bound) {
  throw InvalidMatrix(fmt::format("{} {}: {} {} is outside 0 … {}", names.line, line, names.index,
                                  index, bound - 1));
}

void throw_not_increasing(const LineNames& names, Offset line, Offset previous, Offset index) {
  throw InvalidMatrix(fmt::format("{} {}: {}s {} and {} are not in increasing order", names.line,
                                  line, names.index, previous, index));
}

}  // namespace detail

void require_shape(Offset rows, Offset cols) {
  if (rows < 0 || cols < 0) {
    throw InvalidMatrix(fmt::format("a matrix cannot have {} rows and {} columns", rows, cols));
  }
}

void require_size(std::string_view array, std::size_t actual, Offset expected) {
  if (actual != static_cast<std::size_t>(expected)) {
    throw InvalidMatrix(fmt::format("there are {} {} instead of {}", actual, array, expected));
  }
}

void require_offsets(const LineNames& names, Offset lines, std::span<const Offset> offsets,
                     std::size_t indices) {
  require_size(fmt::format("{} offsets", names.line), offsets.size(), lines + 1);
  if (offsets.front() != 0 || offsets.back() != static_cast<Offset>(indices)) {
    throw InvalidMatrix(fmt::format("{} offsets run from {} to {} instead of 0 to {}", names.line,
                                    offsets.front(), offsets.back(), indices));
  }
  parallel_for(lines, [&](Offset line) {
    if (offsets[line] > offsets[line + 1] || offsets[line + 1] > offsets.back()) {
      throw InvalidMatrix(fmt::format("{} {}: {} offsets decrease", names.line, line, names.line));
    }
  });
}

}  // namespace strata
