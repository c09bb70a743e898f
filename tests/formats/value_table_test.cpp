#include "strata/formats/value_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"
#include "strata/gen/generate.hpp"

namespace strata {
namespace {

TEST(ValueTable, HasTheMostFrequentFirst) {
  const std::vector<double> values{3, 1, 2, 2, 3, 3, 0};
  const ValueTable<double> table{values};
  EXPECT_EQ(std::vector<double>(table.values().begin(), table.values().end()),
            (std::vector<double>{3, 2, 0, 1}));
  EXPECT_EQ(table.distinct(), 4);
  EXPECT_EQ(table.code_of(2), 1);
  EXPECT_EQ(table.code_of(7), -1);
}

TEST(ValueTable, ZeroIsAlwaysThere) {
  const std::vector<double> values(10, 5.0);
  EXPECT_EQ(ValueTable<double>(values).code_of(0), 1);
  EXPECT_EQ(ValueTable<double>(values, 1).code_of(0), 0);
  EXPECT_EQ(ValueTable<double>(std::span<const double>()).code_of(0), 0);
  const std::vector<double> many{1, 1, 1, 2, 2, 3};
  const ValueTable<double> two(many, 2);
  EXPECT_EQ(two.size(), 2);
  EXPECT_EQ(two.code_of(1), 0);
  EXPECT_EQ(two.code_of(0), 1);
  EXPECT_EQ(two.code_of(2), -1);
}

TEST(ValueTable, TellsValuesApartByTheirBits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values{0.0, -0.0, nan, -nan};
  const ValueTable<double> table{values};
  EXPECT_EQ(table.distinct(), 4);
  EXPECT_NE(table.code_of(0.0), table.code_of(-0.0));
  EXPECT_TRUE(std::signbit(table.values()[table.code_of(-nan)]));
}

TEST(ValueTable, OfTooManyKeepsThoseThatRepeat) {
  std::vector<double> values(400000);
  const Random random(3);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 4 == 0 ? static_cast<double>(random.below(i, 10)) : random.uniform(i) + 100;
  }
  const ValueTable<double> table{values};
  EXPECT_EQ(table.distinct(), -1);
  EXPECT_EQ(count_distinct<double>(values), -1);
  for (int value = 0; value < 10; ++value) {
    EXPECT_GE(table.code_of(value), 0);
    EXPECT_LT(table.code_of(value), 10);
  }
}

TEST(ValueTable, IsTheSameForAnyNumberOfThreads) {
  std::vector<float> values(100000);
  const Random random(5);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(random.below(i, 3000)) + 1;
  }
  std::vector<float> first;
  for (const int threads : {1, 2, 5}) {
    const ThreadCountScope scope(threads);
    const ValueTable<float> table{values};
    EXPECT_EQ(table.distinct(), 3000);
    const std::vector<float> now(table.values().begin(), table.values().end());
    if (first.empty()) first = now;
    EXPECT_EQ(now, first);
  }
}

TEST(ValueTable, ValuesHardlyRepeatOnlyWhereNoTableWouldHelp) {
  const Random random(7);
  const auto repeat = [&](std::size_t entries, std::size_t distinct) {
    std::vector<double> values(entries);
    for (std::size_t i = 0; i < entries; ++i) {
      values[i] = static_cast<double>(random.below(i, distinct));
    }
    return !hardly_repeat<double>(values);
  };
  EXPECT_TRUE(repeat(1000000, 1));
  EXPECT_TRUE(repeat(1000000, 1000));
  EXPECT_TRUE(repeat(1000000, 65536));
  EXPECT_FALSE(repeat(1000000, 1000000000));
  // Few values fit in any table, and half of them may be one.
  EXPECT_TRUE(repeat(1000, 1000000000));
  std::vector<double> half(100000);
  for (std::size_t i = 0; i < half.size(); i += 2) half[i] = random.uniform(i);
  EXPECT_FALSE(hardly_repeat<double>(half));
}

TEST(ValueTable, OneDiagonalThatRepeatsIsNoReasonForATable) {
  const Random random(8);
  std::vector<double> values(1400000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 7 == 3 ? 7 : random.uniform(i);
  EXPECT_TRUE(hardly_repeat<double>(values));
  EXPECT_TRUE(
      hardly_repeat<double>(generate<double, std::int32_t>("band:60000,width=27").values()));
  // Rows that repeat as a whole are one, wherever they are.
  std::fill_n(values.begin() + 500000, 140000, 1.0);
  EXPECT_FALSE(hardly_repeat<double>(values));
}

TEST(ValueTable, HoldsAsManyAsSixteenBitsName) {
  std::vector<double> values(65536);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  EXPECT_EQ(ValueTable<double>(values).size(), 65536);
  EXPECT_EQ(ValueTable<double>(values).distinct(), 65536);
  values.push_back(-1);
  EXPECT_EQ(ValueTable<double>(values).distinct(), -1);
}

}  // namespace
}  // namespace strata
