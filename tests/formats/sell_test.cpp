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
      const SellOptions options{
          .slice_height = slice_height, .sort_window = sort_window, .max_fill = 1e9};
      test::expect_format_works<V, I>(
          [&](const Csr<V, I>& csr) { return test::build<Sell<V, I>>(csr, options); });
    }
  }
}

TYPED_TEST(SellTyped, TakesNewValuesAsIfConvertedAgain) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [height, window] :
       {std::pair<Offset, Offset>{1, 1}, {3, 1}, {32, 1}, {4, 8}, {5, 100000}}) {
    SCOPED_TRACE(testing::Message() << "SELL-" << height << "-" << window);
    test::expect_new_values_taken<V, I>([&](const Csr<V, I>& csr) {
      return Sell<V, I>::from_csr(csr,
                                  {.slice_height = height, .sort_window = window, .max_fill = 1e9});
    });
  }
}

using Matrix = Csr<double, std::int32_t>;

// Row lengths 1, 2, 3, 4.
Matrix staircase() {
  return test::staircase(4);
}

SellArrays<double, std::int32_t> arrays_of(const Sell<double, std::int32_t>& sell) {
  const auto copy = [](auto span) {
    return Array<std::remove_const_t<typename decltype(span)::element_type>>(span.begin(),
                                                                             span.end());
  };
  return {.slice_height = sell.slice_height(),
          .sort_window = sell.sort_window(),
          .slice_offsets = copy(sell.slice_offsets()),
          .columns = copy(sell.columns()),
          .values = copy(sell.values()),
          .row_lengths = copy(sell.row_lengths()),
          .row_of_slot = copy(sell.row_of_slot())};
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

// Rows 0 and 1 of the first slice are empty, and so is the whole of the second.
TEST(Sell, PaddingRepeatsColumnsOfItsSlice) {
  const Matrix matrix(9, 9, {0, 0, 0, 2, 3, 3, 3, 3, 3, 4}, {5, 7, 6, 2}, {1.0, 2.0, 3.0, 4.0});
  const auto sell =
      Sell<double, std::int32_t>::from_csr(matrix, {.slice_height = 4, .max_fill = 9});
  EXPECT_EQ(std::vector(sell.columns().begin(), sell.columns().end()),
            (std::vector<std::int32_t>{5, 5, 5, 6, 5, 5, 7, 6, 2, 2, 2, 2}));
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

TEST(Sell, RefusesNewValuesOnAnotherPattern) {
  test::expect_other_patterns_refused(
      Sell<double, std::int32_t>::from_csr(staircase(), {.slice_height = 2, .sort_window = 4}));
}

TEST(Sell, TakesArraysThatObeyItsInvariants) {
  const auto sell =
      Sell<double, std::int32_t>::from_csr(staircase(), {.slice_height = 3, .sort_window = 2});
  const Sell<double, std::int32_t> copy(4, 4, arrays_of(sell));
  EXPECT_EQ(copy.to_csr(), staircase());
  EXPECT_EQ(copy.nnz(), 10);
  EXPECT_EQ(copy.footprint(), sell.footprint());
}

TEST(Sell, RefusesBadArraysAndNamesTheRowOrSlice) {
  // Slots hold the rows 1, 0, 3, 2; slices of 3 slots, 4 and 3 entries wide.
  const auto sell =
      Sell<double, std::int32_t>::from_csr(staircase(), {.slice_height = 3, .sort_window = 2});
  const auto expect_refused = [&](auto&& spoil, const std::string& message) {
    auto arrays = arrays_of(sell);
    spoil(arrays);
    test::expect_invalid([&] { Sell<double, std::int32_t>(4, 4, std::move(arrays)); }, message);
  };
  expect_refused([](auto& a) { a.slice_height = 0; }, "SELL-0-2 cannot hold 4 rows");
  expect_refused([](auto& a) { a.sort_window = 5; }, "SELL-3-5 cannot hold 4 rows");
  expect_refused([](auto& a) { a.slice_offsets[1] = 11; }, "slice 0: 11 values for 3 rows");
  expect_refused([](auto& a) { a.slice_offsets[1] = 22; }, "slice 0: slice offsets decrease");
  expect_refused([](auto& a) { a.columns.pop_back(); }, "there are 20 columns instead of 21");
  expect_refused([](auto& a) { a.row_lengths.pop_back(); }, "there are 3 row lengths instead of 4");
  expect_refused([](auto& a) { a.row_lengths[2] = 5; }, "row 3: length 5 is outside 0 … 4");
  expect_refused([](auto& a) { a.columns[5] = 4; }, "row 3: column 4 is outside 0 … 3");
  expect_refused([](auto& a) { a.columns[5] = 0; },
                 "row 3: columns 0 and 0 are not in increasing order");
  expect_refused([](auto& a) { a.columns[9] = -1; }, "row 1: column -1 is outside 0 … 3");
  expect_refused([](auto& a) { a.values[9] = 1; },
                 "row 1: padding after the last entry is not zero");
  expect_refused([](auto& a) { a.values[20] = 1; },
                 "row 5: padding after the last entry is not zero");
  expect_refused([](auto& a) { a.row_of_slot[0] = 2; },
                 "slot 0: row 2 is outside its window of 2 rows");
  expect_refused([](auto& a) { a.row_of_slot[0] = 0; }, "slot 1: row 0 again");
  expect_refused([](auto& a) { a.row_of_slot.clear(); }, "there are 0 rows by slot instead of 4");
}

}  // namespace
}  // namespace strata
