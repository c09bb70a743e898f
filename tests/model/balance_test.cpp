#include "strata/model/balance.hpp"

#include <gtest/gtest.h>

#include "strata/base/error.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/gen/generate.hpp"
#include "tests/support/graphs.hpp"

namespace strata {
namespace {

using I = std::int32_t;

TEST(Balance, SellAgreesWithTheThesis) {
  // Table 4.3, column D for C = 8, from the table's rounded entries per row.
  const struct {
    double entries_per_row;
    double balance;
  } table[] = {{34.93, 6.24}, {18.02, 6.47}, {201.01, 6.04}, {6.00, 7.42},
               {13.00, 6.65}, {3.81, 8.23},  {2.41, 9.53},   {26.65, 6.32},
               {27.00, 6.31}, {7.00, 7.21},  {4.33, 7.96}};
  for (const auto& line : table) {
    EXPECT_NEAR(sell_balance(8, line.entries_per_row), line.balance, 0.006);
  }
  EXPECT_DOUBLE_EQ(sell_balance(32, 27), 4.0 / (32 * 27) + 6 + 8.0 / 27);
}

TEST(Balance, CrsAgreesWithHagerAndWellein) {
  for (const double entries_per_row : {1.0, 7.0, 27.0, 80.5}) {
    for (const double alpha : {0.0, 1 / entries_per_row, 0.5, 1.0}) {
      EXPECT_DOUBLE_EQ(crs_balance(entries_per_row, alpha), 6 + 4 * alpha + 10 / entries_per_row);
    }
    EXPECT_DOUBLE_EQ(minimum_crs_balance(entries_per_row), 6 + 14 / entries_per_row);
  }
  EXPECT_NEAR(minimum_crs_balance(1e12), 6, 1e-9);  // "lower bound for code balance: 6 B/F"
}

TEST(Balance, OtherTypesHaveTheirOwnSizes) {
  const ElementSizes single{.value = 4, .index = 4};
  EXPECT_DOUBLE_EQ(crs_balance(10, 1, single), (8 + 1.2 + 4) / 2);
  EXPECT_DOUBLE_EQ(sell_balance(4, 10, single), (2 + 80 + 8) / 20.0);
  const ElementSizes complex_long{.value = 16, .index = 8};
  EXPECT_DOUBLE_EQ(crs_balance(10, 0, complex_long), (24 + 4) / 2.0);
  EXPECT_DOUBLE_EQ(minimum_balance(10, complex_long), 16 * 1.2 / 2);
}

TEST(Balance, AlphaIsFoundAgainInTheTraffic) {
  const double entries_per_row = 12;
  for (const double alpha : {0.0, 1.0 / 12, 0.3, 8.0}) {
    const double bytes = crs_balance(entries_per_row, alpha) * 2 * 5000;
    EXPECT_NEAR(alpha_of(bytes, 5000, entries_per_row), alpha, 1e-12);
  }
}

TEST(Balance, AProductMovesTheBytesOfItsFormatAndItsVectors) {
  const auto csr = generate<double, I>("stencil7:8x8x8");
  const VectorTraffic vectors{.rows = 512, .cols = 512};
  EXPECT_EQ(product_bytes(csr.footprint(), vectors),
            12.0 * static_cast<double>(csr.nnz()) + 8 * 513 + 24 * 512);
  EXPECT_EQ(vectors.bytes(), 24 * 512);
  const VectorTraffic streamed{.rows = 512, .cols = 512, .write_allocate = false};
  EXPECT_EQ(streamed.bytes(), 16 * 512);
  // Offsets of 8 bytes instead of the published 4 are all that separates it from the formula.
  const double entries_per_row = static_cast<double>(csr.nnz()) / 512;
  EXPECT_NEAR(product_balance(csr.footprint(), vectors),
              minimum_crs_balance(entries_per_row) + 2 / entries_per_row, 0.01);
}

TEST(Balance, NoFormatWithFullValuesIsBelowTheMinimum) {
  const auto csr = generate<double, I>("stencil27:16x16x16");
  const VectorTraffic vectors{.rows = 4096, .cols = 4096, .write_allocate = false};
  const double least = minimum_balance(static_cast<double>(csr.nnz()) / 4096);
  const double packed =
      product_balance(PackedSell<double, I>::footprint_of(csr, {.stored_values = 0}), vectors);
  EXPECT_LT(least, packed);
  EXPECT_LT(packed, product_balance(csr.footprint(), vectors));
  EXPECT_LT(product_balance(PackedSell<double, I>::footprint_of(csr), vectors), least);
}

TEST(Balance, CsrTrafficAgreesWithReguly) {
  const CsrTraffic single{.entries = 1000, .rows = 100, .sizes = {.value = 4, .index = 4}};
  EXPECT_EQ(single.effective_bytes(), 1000 * 12 + 100 * 8);          // eq. 2
  EXPECT_EQ(single.worst_bytes(128), 32 * (1000 * 12.0 + 100 * 8));  // eq. 3
  EXPECT_EQ(single.minimum_bytes(), 1000 * 8 + 100 * 12);            // eq. 4
  const CsrTraffic twice{.entries = 1000, .rows = 100};
  EXPECT_EQ(twice.effective_bytes(), 1000 * 20 + 100 * 12);
  EXPECT_EQ(twice.minimum_bytes(), 1000 * 12 + 100 * 20);
}

TEST(Balance, BlocksLoadTheLinesOfXThatTheyTouch) {
  const auto diagonal = test::graph_of<I>(64, {});  // 8 lines of 8 values
  const CsrTraffic traffic{.entries = 64, .rows = 64};
  const auto bytes = [&](Offset block_rows) {
    return caching_bytes<I>(diagonal.view(), block_rows, 64);
  };
  EXPECT_EQ(bytes(8), traffic.minimum_bytes());
  EXPECT_EQ(bytes(1000), traffic.minimum_bytes());
  EXPECT_EQ(bytes(4), traffic.minimum_bytes() + 8 * 64);  // every line by two blocks
  EXPECT_EQ(bytes(1), traffic.minimum_bytes() + 56 * 64);
}

TEST(Balance, ImpossibleMatricesAreRefused) {
  EXPECT_THROW(sell_balance(8, 0), InvalidArgument);
  EXPECT_THROW(sell_balance(0, 8), InvalidArgument);
  EXPECT_THROW(crs_balance(-1, 0), InvalidArgument);
  EXPECT_THROW(minimum_balance(0), InvalidArgument);
  EXPECT_THROW(product_balance({}, {}), InvalidArgument);
  const auto diagonal = test::graph_of<I>(4, {});
  EXPECT_THROW(caching_bytes<I>(diagonal.view(), 0, 64), InvalidArgument);
  EXPECT_THROW(caching_bytes<I>(diagonal.view(), 1, 4), InvalidArgument);
}

}  // namespace
}  // namespace strata
