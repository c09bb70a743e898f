// How wide the ELLPACK part of HYB is, by the lengths of the rows (Tsai, Cojean, Anzt: Sparse
// Linear Algebra on AMD and NVIDIA GPUs – The Race is on, 2020, section 3.4). With R the lengths of
// all rows, F(t) the share of rows that have at most t entries and Q(x) = min {t | x < F(t)}:
//
//   hybrid{n}        Q(n %)
//   hybridlimit{n}   the same, but at most rows · 0.0001; the paper's default with n = 33
//   minstorage       Q(index bytes / (value bytes + 2 · index bytes)): the fewest bytes. A quarter
//                    for doubles and indices of 32 bits, which is hybrid{25}
//
//   const auto csr = generate<double, std::int32_t>("stencil5:100x100");
//   hybrid_width(csr.pattern(), 33);                              // 5
//   Hyb<double, std::int32_t>::from_csr(csr, {.hybrid = 33});    // with that width
#pragma once

#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

inline constexpr Offset kDefaultHybridPercent = 33;

// Percents are 0 … 100; others throw InvalidArgument. No row is longer than Q(100 %).
template <Index I>
I hybrid_width(const PatternView<I>& pattern, Offset percent = kDefaultHybridPercent);
template <Index I>
I hybridlimit_width(const PatternView<I>& pattern, Offset percent = kDefaultHybridPercent);
// Of values of so many bytes.
template <Index I>
I minstorage_width(const PatternView<I>& pattern, Offset value_bytes);

}  // namespace strata
