#include "strata/formats/sell.hpp"

#include <gtest/gtest.h>

#include "tests/support/format_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

template <class T>
class SellTyped : public testing::Test {};
TYPED_TEST_SUITE(SellTyped, test::AllTypes);

TYPED_TEST(SellTyped, MatchesEigenForAnySliceHeightAndSortWindow) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const Offset slice_height : {1, 3, 4, 32, 200}) {
    for (const Offset sort_window : {1, 2, 5, 64, 100000}) {
      SCOPED_TRACE(testing::Message() << "SELL-" << slice_height << "-" << sort_window);
      test::expect_format_works<V, I>([&](const Csr<V, I>& csr) {
        const SellOptions options{
            .slice_height = slice_height, .sort_window = sort_window, .max_fill = 1e9};
        auto sell = Sell<V, I>::from_csr(csr, options);
        EXPECT_EQ(sell.footprint(), (Sell<V, I>::footprint_of(csr, options)));
        return sell;
      });
    }
  }
}

using Matrix = Csr<double, std::int32_t>;

// Row lengths 1, 2, 3, 4.
Matrix staircase() {
  test::Entries<double, std::int32_t> entries(4, 4, 1);
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column <= row; ++column) entries.add(row, column);
  }
  return entries.coo().to_csr();
}

TEST(Sell, CountsItsBytesExactly) {
  // Slices of two rows, padded to 2 and 4 entries: 12 values for 10 nonzeros.
  const Footprint footprint =
      Sell<double, std::int32_t>::footprint_of(staircase(), {.slice_height = 2});
  EXPECT_EQ(footprint.stored_entries, 12);
  EXPECT_EQ(footprint.value_bytes, 12 * 8);
  EXPECT_EQ(footprint.index_bytes, 12 * 4 + 3 * 8);
  EXPECT_DOUBLE_EQ(footprint.fill(), 1.2);
}

TEST(Sell, SortingPutsTheLongestRowFirst) {
  const auto sell =
      Sell<double, std::int32_t>::from_csr(staircase(), {.slice_height = 2, .sort_window = 4});
  EXPECT_EQ(sell.row_at(0), 3);
  EXPECT_EQ(sell.row_at(3), 0);
  EXPECT_EQ(sell.footprint().index_bytes, 12 * 4 + 3 * 8 + 4 * 4);
}

TEST(Sell, PaddingUsesColumnsThatExist) {
  const auto sell = Sell<double, std::int32_t>::from_csr(staircase(), {.slice_height = 4});
  for (const auto column : sell.columns()) {
    EXPECT_GE(column, 0);
    EXPECT_LT(column, 4);
  }
}

TEST(Sell, RefusesBadOptionsAndHopelessFill) {
  using S = Sell<double, std::int32_t>;
  EXPECT_THROW(S::from_csr(staircase(), {.slice_height = 0}), InvalidArgument);
  EXPECT_THROW(S::from_csr(staircase(), {.sort_window = 0}), InvalidArgument);
  EXPECT_THROW(S::from_csr(staircase(), {.slice_height = Offset{1} << 31}), OverflowError);
  EXPECT_THROW(S::from_csr(staircase(), {.slice_height = 4, .max_fill = 1.1}), InvalidArgument);
}

}  // namespace
}  // namespace strata
