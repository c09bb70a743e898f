#include "strata/base/checked.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace strata {
namespace {

TEST(Checked, NarrowKeepsWhatFits) {
  EXPECT_EQ(narrow<std::int32_t>(std::int64_t{2147483647}, "n"), 2147483647);
  EXPECT_EQ(narrow<std::int32_t>(std::int64_t{-2147483648}, "n"), -2147483647 - 1);
}

TEST(Checked, NarrowRefusesWhatDoesNotFitAndNamesIt) {
  try {
    narrow<std::int32_t>(std::int64_t{1} << 31, "the number of rows");
    FAIL() << "2^31 does not fit in 32 bits";
  } catch (const OverflowError& error) {
    EXPECT_STREQ(error.what(),
                 "the number of rows is 2147483648, which does not fit in a 32-bit integer");
  }
  EXPECT_THROW(narrow<std::uint8_t>(-1, "n"), OverflowError);
}

TEST(Checked, ArithmeticOverflowIsAnError) {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(checked_multiply<std::int64_t>(1'000'000, 1'000'000, "n"), 1'000'000'000'000);
  EXPECT_THROW(checked_multiply<std::int64_t>(largest, 2, "n"), OverflowError);
  EXPECT_EQ(checked_add<std::int64_t>(largest, -1, "n"), largest - 1);
  EXPECT_THROW(checked_add<std::int64_t>(largest, 1, "n"), OverflowError);
}

TEST(Checked, DivideUpDoesNotOverflowAtTheTop) {
  EXPECT_EQ(ceil_div(0, 32), 0);
  EXPECT_EQ(ceil_div(32, 32), 1);
  EXPECT_EQ(ceil_div(33, 32), 2);
  EXPECT_EQ(ceil_div(std::numeric_limits<std::int32_t>::max(), 2), 1 << 30);
}

}  // namespace
}  // namespace strata
