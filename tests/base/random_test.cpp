#include "strata/base/random.hpp"

#include <gtest/gtest.h>

#include <array>

namespace strata {
namespace {

TEST(Random, IsAPureFunctionOfSeedStreamAndCounter) {
  EXPECT_EQ(Random(1, 2).bits(3), Random(1, 2).bits(3));
  EXPECT_NE(Random(1, 2).bits(3), Random(1, 2).bits(4));
  EXPECT_NE(Random(1, 2).bits(3), Random(1, 3).bits(3));
  EXPECT_NE(Random(1, 2).bits(3), Random(2, 2).bits(3));
}

TEST(Random, NumbersAreTheSameOnEveryMachine) {
  EXPECT_EQ(Random(42).bits(0), 15401966192612465740ULL);
}

TEST(Random, UniformFillsTheUnitIntervalEvenly) {
  const Random random(7);
  std::array<int, 10> bins{};
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const double u = random.uniform(i);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++bins[static_cast<std::size_t>(u * 10)];
  }
  for (const int bin : bins) EXPECT_NEAR(bin, 10000, 500);  // five standard deviations
}

TEST(Random, BelowStaysBelow) {
  const Random random(7);
  std::array<int, 3> seen{};
  for (std::uint64_t i = 0; i < 3000; ++i) ++seen.at(random.below(i, 3));
  for (const int count : seen) EXPECT_NEAR(count, 1000, 130);
}

}  // namespace
}  // namespace strata
