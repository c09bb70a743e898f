#include "strata/base/checked.hpp"

#include <fmt/format.h>

namespace strata::detail {

void throw_narrowing(std::string_view what, std::int64_t value, int bits) {
  throw OverflowError(
      fmt::format("{} is {}, which does not fit in a {}-bit integer", what, value, bits));
}

void throw_overflow(std::string_view what, std::int64_t a, char operation, std::int64_t b,
                    int bits) {
  throw OverflowError(fmt::format("{} is {} {} {}, which does not fit in a {}-bit integer", what, a,
                                  operation, b, bits));
}

}  // namespace strata::detail
