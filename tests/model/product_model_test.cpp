#include "strata/model/product_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/sell.hpp"
#include "strata/gen/generate.hpp"
#include "strata/model/trace.hpp"
#include "tests/support/graphs.hpp"

namespace strata {
namespace {

using I = std::int32_t;
constexpr double kGiga = 1e9;

// --- α

TEST(PredictedAlpha, IsOneOverRowLengthWhereXIsLoadedOnce) {
  const auto matrix = generate<double, I>("stencil7:32x32x32");
  const double per_row = static_cast<double>(matrix.nnz()) / matrix.rows();
  // Three planes of x stay in 128 KiB, the matrix does not.
  const double alpha = predicted_alpha(matrix.pattern(), {.bytes = 128 * 1024, .ways = 16});
  EXPECT_NEAR(alpha, 1 / per_row, 0.01);
}

TEST(PredictedAlpha, IsZeroWhereXStaysInCache) {
  const auto matrix = generate<double, I>("random:2000,nnzr=20");
  EXPECT_EQ(predicted_alpha(matrix.pattern(), {.bytes = 1 << 24, .ways = 16}), 0);
}

TEST(PredictedAlpha, IsAWholeLinePerEntryWithoutReuse) {
  const auto matrix = generate<double, I>("random:200000,nnzr=4");
  const double alpha = predicted_alpha(matrix.pattern(), {.bytes = 4096, .ways = 8});
  EXPECT_NEAR(alpha, 8, 0.1);  // 64-byte lines, 8-byte values
  const ElementSizes single{.value = 4, .index = 4};
  EXPECT_NEAR(predicted_alpha(matrix.pattern(), {.bytes = 4096, .ways = 8}, single), 16, 0.2);
}

TEST(PredictedAlpha, AgreesWithTheTraceOfEveryAccess) {
  const auto matrix = generate<double, I>("mesh:4000,dim=3,nnzr=12,shuffle=1");
  const CacheShape shape{.bytes = 8192, .ways = 8};
  CacheSimulator cache(shape);
  const std::vector<I> ends{0, matrix.rows()};
  const Tiling<I> tiling = make_tiling<I>(matrix.pattern(), matrix.row_offsets(),
                                          {ends, std::numeric_limits<Offset>::max(), 1});
  const SweepAddresses arrays = place_arrays(matrix, 1);
  const Schedule product = plain_schedule(tiling, 1);
  play_sweep(matrix, tiling, product, arrays, cache);
  const Offset vectors = play_sweep(matrix, tiling, product, arrays, cache).vectors;
  const double of_x = static_cast<double>(vectors) - matrix.rows() / 8.0;  // y is written once
  const double traced = of_x * 64 / (8 * static_cast<double>(matrix.nnz()));
  EXPECT_NEAR(predicted_alpha(matrix.pattern(), shape), traced, 0.03 * traced);
}

TEST(PredictedAlpha, ServesRectangularAndEmptyMatrices) {
  const Csr<double, I> wide(2, 1000, Array<Offset>{0, 2, 3}, Array<I>{0, 999, 500},
                            Array<double>(3, 1.0));
  EXPECT_EQ(predicted_alpha(wide.pattern(), {.bytes = 16384, .ways = 16}), 0);  // again
  const Csr<double, I> empty(3, 3, Array<Offset>(4, 0), {}, {});
  EXPECT_EQ(predicted_alpha(empty.pattern(), {.bytes = 4096, .ways = 4}), 0);
  EXPECT_THROW(predicted_alpha(wide.pattern(), {.bytes = 100, .ways = 4}), InvalidArgument);
  EXPECT_THROW(predicted_alpha(wide.pattern(), {.bytes = 4096, .ways = 4}, {.value = 0}),
               InvalidArgument);
}

TEST(InferredAlpha, IsFoundAgainInTheTime) {
  const auto matrix = generate<double, I>("stencil27:12x12x12");
  const VectorTraffic vectors{.rows = matrix.rows(), .cols = matrix.cols()};
  for (const double alpha : {0.0, 0.04, 1.0, 8.0}) {
    const FormatBalance balance = balance_with_alpha(matrix.footprint(), vectors, alpha);
    const double seconds = balance.bytes / (40 * kGiga);
    EXPECT_NEAR(inferred_alpha(seconds, 40 * kGiga, matrix.footprint(), vectors), alpha, 1e-9);
  }
  EXPECT_LT(inferred_alpha(1e-9, kGiga, matrix.footprint(), vectors), 0);  // from cache
}

// --- balance

TEST(FormatBalance, OfCsrIsHagerAndWelleinsWithWiderOffsets) {
  const auto matrix = generate<double, I>("stencil27:12x12x12");
  const double per_row = static_cast<double>(matrix.nnz()) / matrix.rows();
  const VectorTraffic vectors{.rows = matrix.rows(), .cols = matrix.cols()};
  for (const double alpha : {1 / per_row, 0.5, 1.0}) {
    const FormatBalance balance = balance_with_alpha(matrix.footprint(), vectors, alpha);
    // Offsets have 8 bytes instead of the published 4: 2 bytes per flop and entry of a row.
    EXPECT_NEAR(balance.bytes_per_flop, crs_balance(per_row, alpha) + 2 / per_row, 1e-3);
    EXPECT_NEAR(balance.x_loads, alpha * per_row, 1e-12);
    EXPECT_NEAR(balance.minimum_per_flop, minimum_crs_balance(per_row) + 2 / per_row, 1e-3);
  }
  const FormatBalance once = balance_with_alpha(matrix.footprint(), vectors, 1 / per_row);
  EXPECT_NEAR(once.bytes_per_flop, once.minimum_per_flop, 1e-12);  // B_C(1/N) = B_C,min
  EXPECT_GE(once.bytes_per_flop, 6);                               // "B_C,min ≥ 6 B/F"
}

TEST(FormatBalance, CountsTheBytesOfAnyFormat) {
  const auto matrix = generate<double, I>("stencil27:12x12x12");
  const VectorTraffic vectors{.rows = matrix.rows(), .cols = matrix.cols()};
  const Footprint sell = Sell<double, I>::footprint_of(matrix, {.slice_height = 8});
  const FormatBalance balance = balance_with_alpha(sell, vectors, 0.1);
  const double entries = static_cast<double>(matrix.nnz());
  EXPECT_DOUBLE_EQ(balance.bytes,
                   static_cast<double>(sell.bytes()) + 0.1 * 8 * entries + 16.0 * matrix.rows());
  EXPECT_DOUBLE_EQ(balance.bytes_per_flop, balance.bytes / (2 * entries));
  EXPECT_DOUBLE_EQ(balance.flops_per_second(122 * kGiga), 122 * kGiga / balance.bytes_per_flop);
}

TEST(FormatBalance, RefusesWhatHasNone) {
  const Footprint some{.value_bytes = 8, .index_bytes = 4, .stored_entries = 1, .entries = 1};
  EXPECT_THROW(balance_with_alpha({}, {.rows = 1, .cols = 1}, 0), InvalidArgument);
  EXPECT_THROW(balance_with_alpha(some, {.rows = 1, .cols = 0}, 0), InvalidArgument);
  EXPECT_THROW(inferred_alpha(1, 1, {}, {}), InvalidArgument);
  EXPECT_THROW(inferred_alpha(0, 1, some, {.rows = 1, .cols = 1}), InvalidArgument);
  EXPECT_THROW(inferred_alpha(1, -1, some, {.rows = 1, .cols = 1}), InvalidArgument);
}

// --- Reguly's bandwidths

TEST(CsrBandwidths, AreTheBytesOfTheEquationsByTime) {
  const auto diagonal = test::graph_of<I>(1024, {});
  const ElementSizes single{.value = 4, .index = 4};
  const double seconds = 1e-6;
  const CsrBandwidths rates = csr_bandwidths<I>(diagonal.view(), seconds, 32, 128, single);
  EXPECT_DOUBLE_EQ(rates.effective, (1024 * 12 + 1024 * 8) / seconds);     // eq. 2
  EXPECT_DOUBLE_EQ(rates.worst, 32.0 * (1024 * 12 + 1024 * 8) / seconds);  // eq. 3
  EXPECT_DOUBLE_EQ(rates.minimum, (1024 * 8 + 1024 * 12) / seconds);       // eq. 4
  EXPECT_DOUBLE_EQ(rates.caching, rates.minimum);  // each block has a line of its own
  // Twice the blocks load every line twice.
  const CsrBandwidths smaller = csr_bandwidths<I>(diagonal.view(), seconds, 16, 128, single);
  EXPECT_DOUBLE_EQ(smaller.caching, rates.minimum + 1024 * 4 / seconds);
}

TEST(CsrBandwidths, AreInOrderOnAMatrixOfTheirTable) {
  // atmosmodd of Table 1 is this stencil: 1 270 432 rows and 8 814 880 entries, of which these are
  // some planes.
  const auto matrix = generate<float, I>("stencil7:148x148x6");
  const CsrBandwidths rates =
      csr_bandwidths(matrix.pattern(), 1e-3, 8 * 128 / 4, 128, {.value = 4, .index = 4});
  EXPECT_LT(rates.minimum, rates.caching);
  EXPECT_LT(rates.caching, rates.worst);
  EXPECT_LT(rates.minimum, rates.effective);
  EXPECT_THROW(csr_bandwidths(matrix.pattern(), 0, 1, 128), InvalidArgument);
}

// --- roofline

TEST(Roofline, AgreesWithHagerAndWellein) {
  // a[i] = a[i] + s·c[i], 10⁷ elements: 2·10⁷ flops at 192 Gflop/s take 104 µs, 2.4·10⁸ bytes at
  // 40 GB/s take 6.0 ms.
  const std::vector<MemoryCeiling> memory{{"dram", 2.4e8, 40 * kGiga}};
  const Roofline roof = roofline(2e7, 192 * kGiga, memory);
  EXPECT_NEAR(roof.seconds, 6.0e-3, 1e-12);
  EXPECT_NEAR(roof.flops_per_second, 3.3 * kGiga, 0.05 * kGiga);
  EXPECT_EQ(roof.limit, "dram");
  EXPECT_NEAR(roofline(2e7, 192 * kGiga, {}).seconds, 104e-6, 0.5e-6);
}

TEST(Roofline, HasItsRidgeWherePeakMeetsBandwidth) {
  // 4.5 TF/s and 300 GB/s: 15 flops per byte.
  const auto limit_of = [](double flops_per_byte) {
    const std::vector<MemoryCeiling> memory{{"dram", 1, 300 * kGiga}};
    return roofline(flops_per_byte, 4500 * kGiga, memory);
  };
  EXPECT_EQ(limit_of(14.9).limit, "dram");
  EXPECT_EQ(limit_of(15.1).limit, "peak");
  EXPECT_DOUBLE_EQ(limit_of(100).flops_per_second, 4500 * kGiga);
  EXPECT_DOUBLE_EQ(limit_of(1).flops_per_second, 300 * kGiga);
}

TEST(Roofline, TakesTheSlowestLevel) {
  const std::vector<MemoryCeiling> levels{
      {"dram", 1e6, 20 * kGiga}, {"L3", 8e6, 100 * kGiga}, {"L1", 9e6, 400 * kGiga}};
  const Roofline roof = roofline(1e6, 0, levels);
  EXPECT_EQ(roof.limit, "L3");
  EXPECT_DOUBLE_EQ(roof.seconds, 80e-6);
}

TEST(Roofline, RefusesImpossibleNumbers) {
  const std::vector<MemoryCeiling> none{{"dram", 0, 1}};
  const std::vector<MemoryCeiling> still{{"dram", 1, 0}};
  const std::vector<MemoryCeiling> negative{{"dram", -1, 1}};
  EXPECT_THROW(roofline(1, 0, {}), InvalidArgument);
  EXPECT_THROW(roofline(1, 0, none), InvalidArgument);
  EXPECT_THROW(roofline(1, 1, still), InvalidArgument);
  EXPECT_THROW(roofline(1, 1, negative), InvalidArgument);
  EXPECT_THROW(roofline(0, 1, {}), InvalidArgument);
  EXPECT_THROW(roofline(1, std::nan(""), {}), InvalidArgument);
}

// --- break-even

TEST(BreakEven, AgreesWithReguly) {
  // ELLPACK is 1.88 times as fast as CSR; a conversion that takes as long as a hundred
  // multiplications pays after 214 of them, and one that pays within 90 takes as long as 42.
  const double ell = 1 / 1.88;
  EXPECT_EQ(break_even_products({100, ell}, {0, 1}), 214);
  EXPECT_EQ(break_even_products({42, ell}, {0, 1}), 90);
}

TEST(BreakEven, IsNeverWhereNothingIsGained) {
  EXPECT_EQ(break_even_products({1, 2}, {0, 1}), std::nullopt);
  EXPECT_EQ(break_even_products({1, 1}, {0, 1}), std::nullopt);
  EXPECT_EQ(break_even_products({0, 2}, {1, 1}), std::nullopt);  // ahead for one product only
  EXPECT_EQ(break_even_products({1e300, 1 - 1e-15}, {0, 1}), std::nullopt);
}

TEST(BreakEven, IsAtOnceWhereNothingIsLost) {
  EXPECT_EQ(break_even_products({0, 1}, {0, 1}), 0);  // the baseline itself
  EXPECT_EQ(break_even_products({1, 1}, {2, 3}), 0);
  EXPECT_EQ(break_even_products({3, 1}, {0, 2}), 3);
}

TEST(BreakEven, RefusesImpossibleTimes) {
  EXPECT_THROW(break_even_products({-1, 1}, {0, 1}), InvalidArgument);
  EXPECT_THROW(break_even_products({1, 1}, {0, std::nan("")}), InvalidArgument);
}

}  // namespace
}  // namespace strata
