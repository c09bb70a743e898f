// Fingerprint: whether two patterns are the same, without keeping one of them. Plans that take new
// values compare it with that of the pattern they were made for.
#pragma once

#include <array>
#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

// Patterns that differ have the same fingerprint with a probability of at most about 2^−64: they
// are told apart by the sum of a random function of (row, column) over the entries, and by a sum
// over the rows of another function of what theirs add up to. The type of the indices does not
// matter.
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
