// Fingerprint: whether two patterns are the same, without keeping one of them. Plans that take new
// values compare it with that of the pattern they were made for.
#pragma once

#include <array>
#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

// Patterns that differ have the same fingerprint with a probability of about 2^−128: they are told
// apart by sums of random functions of (row, column), one per entry. The type of the indices does
// not matter.
struct Fingerprint {
  Offset rows = 0;
  Offset cols = 0;
  Offset entries = 0;
  std::array<std::uint64_t, 2> sums{};

  bool operator==(const Fingerprint&) const = default;
};

template <Index I>
Fingerprint fingerprint_of(const PatternView<I>& pattern);

}  // namespace strata
