// HYB (Bell, Garland: Implementing Sparse Matrix-Vector Multiplication on Throughput-Oriented
// Processors, SC 2009): the first `width` entries of every row in ELLPACK, the rest in COO, so that
// a few long rows do not pad all others.
//
// The rest is in row order, and continues each row with increasing columns where ELLPACK stopped.
#pragma once

#include <array>

#include "strata/base/error.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/coo.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/ell.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/format_parameters.hpp"

namespace strata {

inline constexpr Offset kAutomaticWidth = -1;

// At most one of the first four is given: the width of the ELLPACK part, or a rule for it
// (hyb_rules.hpp). With none of them HYB has the fewest bytes, and the narrowest part of those.
struct HybOptions {
  Offset width = kAutomaticWidth;        // entries
  Offset hybrid = kAutomaticWidth;       // n of hybrid{n}, in percent
  Offset hybridlimit = kAutomaticWidth;  // n of hybridlimit{n}, in percent
  Offset minstorage = kAutomaticWidth;   // 1: the rule of that name
  double max_fill = kDefaultMaxFill;     // refuse to store more values than this per nonzero

  static constexpr AllowedNumbers kPercent{"0 to 100",
                                           [](Offset value) { return value >= 0 && value <= 100; }};
  static constexpr AllowedNumbers kOne{"1", [](Offset value) { return value == 1; }};
  static constexpr std::array kParameters{
      FormatParameter{"width", &HybOptions::width, kNotNegative, ParameterDefault::automatic},
      FormatParameter{"hybrid", &HybOptions::hybrid, kPercent, ParameterDefault::automatic},
      FormatParameter{"hybridlimit", &HybOptions::hybridlimit, kPercent,
                      ParameterDefault::automatic},
      FormatParameter{"minstorage", &HybOptions::minstorage, kOne, ParameterDefault::automatic}};
};

template <Value V, Index I>
class Hyb {
 public:
  using value_type = V;
  using index_type = I;
  using Options = HybOptions;

  Hyb() = default;
  // Throws InvalidMatrix, naming the first bad row, unless both parts have one shape and the rest
  // obeys the invariant above.
  Hyb(Ell<V, I> ell, Coo<V, I> rest);

  // A width above the longest row means the longest row.
  static Hyb from_csr(const Csr<V, I>& matrix, const HybOptions& options = {});
  static Footprint footprint_of(const Csr<V, I>& matrix, const HybOptions& options = {});
  Csr<V, I> to_csr() const;

  I rows() const { return ell_.rows(); }
  I cols() const { return ell_.cols(); }
  Offset nnz() const { return ell_.nnz() + rest_.nnz(); }
  RowRange<I> all_rows() const { return {0, rows()}; }
  I width() const { return ell_.width(); }

  const Ell<V, I>& ell() const { return ell_; }
  const Coo<V, I>& rest() const { return rest_; }

  Footprint footprint() const;

 private:
  Ell<V, I> ell_;
  Coo<V, I> rest_;
};

}  // namespace strata
