#include "strata/formats/hyb_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/formats/internal/row_lengths.hpp"

namespace strata {

namespace {

// Q(numerator / denominator), in whole numbers: rows · x < the rows that have at most t entries.
template <Index I>
I length_at(const PatternView<I>& pattern, Offset numerator, Offset denominator) {
  const Offset fewest =
      checked_multiply<Offset>(pattern.rows, numerator, "a share of the rows") / denominator + 1;
  I low = 0;
  I high = longest_row(pattern);
  while (low < high) {
    const I middle = low + (high - low) / 2;
    if (pattern.rows - overhang_beyond(pattern, middle).rows >= fewest) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

template <Index I>
I hybrid_width(const PatternView<I>& pattern, Offset percent) {
  if (percent < 0 || percent > 100) {
    throw InvalidArgument(
        fmt::format("{} % of the rows cannot fit into the ELLPACK part", percent));
  }
  return length_at(pattern, percent, 100);
}

template <Index I>
I hybridlimit_width(const PatternView<I>& pattern, Offset percent) {
  return std::min<I>(hybrid_width(pattern, percent), pattern.rows / 10000);
}

template <Index I>
I minstorage_width(const PatternView<I>& pattern, Offset value_bytes) {
  constexpr Offset index_bytes = sizeof(I);
  return length_at(pattern, index_bytes, value_bytes + 2 * index_bytes);
}

#define STRATA_INSTANTIATE(I)                                  \
  template I hybrid_width(const PatternView<I>&, Offset);      \
  template I hybridlimit_width(const PatternView<I>&, Offset); \
  template I minstorage_width(const PatternView<I>&, Offset)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
