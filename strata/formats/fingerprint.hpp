// Fingerprint: whether two patterns are the same, without keeping one of them. Plans that take new
// values compare it with that of the pattern they were made for.
#pragma once

#include <array>
#include <cstdint>

#include "strata/base/function_ref.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

// Patterns that differ have the same fingerprint with a probability of about 2^−64: they are told
// apart by the sum of a random function over the columns, some at a time, and their places, and by
// the same sum over the offsets of the rows. The type of the indices does not matter.
struct Fingerprint {
  Offset rows = 0;
  Offset cols = 0;
  Offset entries = 0;
  std::array<std::uint64_t, 2> sums{};

  bool operator==(const Fingerprint&) const = default;
};

template <Index I>
Fingerprint fingerprint_of(const PatternView<I>& pattern);

// The same, which reads all of the pattern: visit(rows) looks at rows while they are in a cache,
// some at a time and on several threads at once.
template <Index I>
Fingerprint fingerprint_of(const PatternView<I>& pattern, FunctionRef<void(RowRange<I>)> visit);

}  // namespace strata
