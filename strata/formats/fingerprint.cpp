#include "strata/formats/fingerprint.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"

namespace strata {

namespace {

using Sums = std::array<std::uint64_t, 2>;

// Sums modulo 2^64 do not depend on the order of the entries, nor on how threads share them.
Sums add(Sums a, const Sums& b) {
  a[0] += b[0];
  a[1] += b[1];
  return a;
}

}  // namespace

template <Index I>
Fingerprint fingerprint_of(const PatternView<I>& pattern) {
  constexpr Random kOfRows(1, 0);
  const auto of_rows = [&](Offset begin, Offset end) {
    Sums sums{};
    for (Offset row = begin; row < end; ++row) {
      const std::uint64_t key = kOfRows.bits(static_cast<std::uint64_t>(row));
      std::uint64_t of_row = 0;
      for (const I column : pattern.columns_of(static_cast<I>(row))) {
        of_row += mix_bits(key + static_cast<std::uint64_t>(column));
      }
      sums = add(sums, {of_row, mix_bits(of_row ^ key)});
    }
    return sums;
  };
  return {pattern.rows, pattern.cols, pattern.entries(),
          parallel_reduce(Offset{pattern.rows}, Sums{}, of_rows, add)};
}

#define STRATA_INSTANTIATE(I) template Fingerprint fingerprint_of(const PatternView<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
