#include "strata/report/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "strata/base/error.hpp"

namespace strata::report {
namespace {

std::vector<double> samples(int count, double middle, double spread, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(middle, spread);
  std::vector<double> list(count);
  for (double& value : list) value = noise(random);
  return list;
}

// Of the 20 orders of 3 and 3 samples one has U = 0 and one U = 9.
TEST(RankTest, IsExactForFewSamples) {
  const std::vector<double> low{1, 2, 3};
  const std::vector<double> high{4, 5, 6};
  EXPECT_DOUBLE_EQ(rank_test(low, high), 0.1);
  EXPECT_DOUBLE_EQ(rank_test(high, low), 0.1);
  // U = 4 of 0 … 9: counted by hand, 10 of 20 orders have at most that, on each side.
  EXPECT_DOUBLE_EQ(rank_test(std::vector<double>{1, 4, 5}, std::vector<double>{2, 3, 6}), 1);
  // Tables of the test: n = m = 5, U = 2 is 4 orders of 252 on either side.
  const std::vector<double> five{1, 2, 3, 4, 7};
  const std::vector<double> others{5, 6, 8, 9, 10};
  EXPECT_NEAR(rank_test(five, others), 2 * 4 / 252.0, 1e-12);
}

TEST(RankTest, EqualListsDoNotDiffer) {
  const std::vector<double> equal(50, 2.5);
  EXPECT_EQ(rank_test(equal, equal), 1);
  EXPECT_EQ(rank_test({}, equal), 1);
}

// The approximation agrees with counting where both are possible.
TEST(RankTest, TheApproximationContinuesTheExactTest) {
  const std::vector<double> first = samples(20, 1, 0.1, 1);
  std::vector<double> second = samples(20, 1.05, 0.1, 2);
  const double exact = rank_test(first, second);
  second.push_back(second.back());  // a tie: no longer counted
  EXPECT_NEAR(rank_test(first, second), exact, 0.05);
}

// One list in twenty differs from another of its kind, about.
TEST(RankTest, ChanceIsRarelySignificant) {
  int significant = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto first = samples(25, 1, 0.1, 2 * seed);
    const auto second = samples(25, 1, 0.1, 2 * seed + 1);
    significant += rank_test(first, second) < 0.05 ? 1 : 0;
  }
  EXPECT_GE(significant, 5);
  EXPECT_LE(significant, 40);
}

TEST(Adjusted, FollowsTheStepUpRule) {
  const std::vector<double> result = adjusted(std::vector<double>{0.01, 0.04, 0.03, 0.5});
  EXPECT_NEAR(result[0], 0.04, 1e-15);
  EXPECT_NEAR(result[1], 0.16 / 3, 1e-15);
  EXPECT_NEAR(result[2], 0.16 / 3, 1e-15);
  EXPECT_NEAR(result[3], 0.5, 1e-15);
  EXPECT_TRUE(adjusted({}).empty());
}

TEST(RatioOfMedians, HasTheTruthInItsInterval) {
  int inside = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Interval ratio =
        ratio_of_medians(samples(31, 1, 0.05, 2 * seed), samples(31, 1.1, 0.05, 2 * seed + 1));
    EXPECT_LE(ratio.low, ratio.middle);
    EXPECT_LE(ratio.middle, ratio.high);
    inside += ratio.low <= 1.1 && 1.1 <= ratio.high ? 1 : 0;
  }
  EXPECT_GE(inside, 88);
  EXPECT_LT(inside, 100) << "an interval that always has it says nothing";
}

TEST(RatioOfMedians, IsTheSameEveryTime) {
  const auto first = samples(10, 1, 0.1, 1);
  const auto second = samples(12, 1, 0.1, 2);
  EXPECT_EQ(ratio_of_medians(first, second).low, ratio_of_medians(first, second).low);
  EXPECT_THROW(ratio_of_medians({}, first), InvalidArgument);
}

TEST(GeometricMean, OfOneValueIsThatValue) {
  EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{2, 8}).middle, 4);
  const Interval one = geometric_mean(std::vector<double>{1.25});
  EXPECT_DOUBLE_EQ(one.low, 1.25);
  EXPECT_DOUBLE_EQ(one.high, 1.25);
  EXPECT_THROW(geometric_mean({}), InvalidArgument);
}

}  // namespace
}  // namespace strata::report
