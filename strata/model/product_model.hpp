// What one product should cost, and what a measured time says about it: α and code balance of any
// format, the bandwidths of Reguly, the roofline, and after how many products a format has paid for
// its set-up. The formulas themselves are in balance.hpp; here they meet a matrix and a time.
// Sources as there, and
//   Roofline   S. Williams, A. Waterman, D. Patterson, Commun. ACM 52(4), 2009; as in Hager/Wellein
//
//   const auto A = strata::generate<double, std::int32_t>("stencil7:64x64x64");
//   const double alpha = strata::predicted_alpha(A.pattern(), {.bytes = 1 << 20, .ways = 16});
//   const strata::VectorTraffic vectors{.rows = A.rows(), .cols = A.cols()};
//   const auto balance = strata::balance_with_alpha(A.footprint(), vectors, alpha);
//   balance.bytes_per_flop;  // 8.3: 40 GB/s of memory bandwidth are 4.8 GF/s
#pragma once

#include <optional>
#include <span>
#include <string>

#include "strata/base/types.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/pattern.hpp"
#include "strata/model/balance.hpp"
#include "strata/model/cache_simulator.hpp"

namespace strata {

// α of Hager and Wellein: elements of x that come from memory per entry, a line counted whole. The
// accesses of a CSR product are played into the cache, on one core that goes through the rows in
// order, twice: counted is the second product, which finds of x what the first one left. 0 for a
// matrix without entries. Takes about 60 ns per entry. Throws InvalidArgument for impossible caches
// and sizes.
template <Index I>
double predicted_alpha(const PatternView<I>& pattern, const CacheShape& cache,
                       const ElementSizes& sizes = {});

// α from the time of a product that memory of this bandwidth limits: all that is moved beyond the
// matrix and y counts as x. Negative where the time is too short for that: the matrix was in cache.
// Throws InvalidArgument for a matrix without entries and for times and bandwidths that are not
// positive.
double inferred_alpha(double seconds, double bytes_per_second, const Footprint& matrix,
                      const VectorTraffic& vectors);

// B_C(α) of any format, from the bytes that it has. `x_loads` of the vectors is not used.
struct FormatBalance {
  double alpha = 0;
  double x_loads = 0;           // α entries/cols: how often x is loaded
  double bytes = 0;             // of a product
  double bytes_per_flop = 0;    // B_C(α)
  double minimum_per_flop = 0;  // B_C,min: x once

  double flops_per_second(double bandwidth) const { return bandwidth / bytes_per_flop; }
};
// Throws InvalidArgument for a matrix without entries or columns.
FormatBalance balance_with_alpha(const Footprint& matrix, const VectorTraffic& vectors,
                                 double alpha);

// Reguly's four bandwidths of a CSR product, in bytes per second.
struct CsrBandwidths {
  double effective = 0;  // eq. 2, x for every entry
  double worst = 0;      // eq. 3, a line for every access
  double minimum = 0;    // eq. 4, x once
  double caching = 0;    // section 5.5, x once per block of rows
};
// A block has repeat·blockSize/coop rows. Throws InvalidArgument unless the time is positive, and
// as caching_bytes does.
template <Index I>
CsrBandwidths csr_bandwidths(const PatternView<I>& pattern, double seconds, Offset block_rows,
                             Offset line_bytes, const ElementSizes& sizes = {});

// One level of memory and what a computation moves through it.
struct MemoryCeiling {
  std::string name;  // "dram", "L2", …
  double bytes = 0;
  double bytes_per_second = 0;
};

struct Roofline {
  double flops_per_second = 0;
  double seconds = 0;
  std::string limit;  // the name of the level that is slowest, or "peak"
};
// P = min(P_peak, b_l · flops/bytes_l over all levels l). A peak of 0 is never the limit. Throws
// InvalidArgument unless something limits and all numbers are possible.
Roofline roofline(double flops, double peak_flops_per_second,
                  std::span<const MemoryCeiling> levels);

// After how many products a format has made up for its set-up, against a baseline (Reguly, section
// 7, of ELLPACK against CSR): the least n with setup + n·seconds ≤ baseline. 0 if it is ahead from
// the start; none if it never is.
struct SetupAndProduct {
  double setup_seconds = 0;
  double seconds = 0;  // of one product
};
// Throws InvalidArgument for times that are negative or not finite.
std::optional<Offset> break_even_products(const SetupAndProduct& format,
                                          const SetupAndProduct& baseline);

}  // namespace strata
