#include "strata/machine/fit.hpp"

#include <gtest/gtest.h>

#include "strata/base/error.hpp"
#include "strata/base/random.hpp"
#include "tests/machine/support.hpp"

namespace strata::test {
namespace {

struct Level {
  Offset bytes;
  double bytes_per_second;
};

// Working sets of 16 KiB to 1 GiB, each at the speed of the first level that holds it. A working
// set of up to twice a level reads half way between it and the next.
std::vector<BandwidthPoint> curve_of(const std::vector<Level>& levels, double noise = 0) {
  const Random random(1);
  std::vector<BandwidthPoint> curve;
  for (Offset bytes = 1 << 14; bytes <= 1 << 30; bytes *= 2) {
    std::size_t level = 0;
    while (level + 1 < levels.size() && bytes > levels[level].bytes) ++level;
    double rate = levels[level].bytes_per_second;
    if (level > 0 && bytes < 2 * levels[level - 1].bytes) {
      rate = (rate + levels[level - 1].bytes_per_second) / 2;
    }
    curve.push_back({2, bytes, rate * (1 - noise * random.uniform(curve.size()))});
  }
  return curve;
}

constexpr Offset kL1 = 1 << 15;
constexpr Offset kL2 = 1 << 20;
constexpr Offset kL3 = 1 << 25;
const std::vector<Level> kThreeCaches{
    {kL1, 200 * kGiga}, {kL2, 120 * kGiga}, {kL3, 40 * kGiga}, {0, 15 * kGiga}};

void expect_plateaus(const std::vector<BandwidthPoint>& curve, const std::vector<Level>& expected,
                     double tolerance) {
  const std::vector<Plateau> plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(plateaus[i].threads, 2);
    EXPECT_NEAR(plateaus[i].bytes_per_second / expected[i].bytes_per_second, 1, tolerance) << i;
    const bool last = i + 1 == expected.size();
    EXPECT_EQ(plateaus[i].bytes, last ? Offset{1} << 30 : expected[i].bytes) << i;
  }
}

TEST(Plateaus, OfACleanCurveAreItsLevels) {
  expect_plateaus(curve_of(kThreeCaches), kThreeCaches, 1e-12);
}

TEST(Plateaus, SurviveNoise) {
  expect_plateaus(curve_of(kThreeCaches, 0.1), kThreeCaches, 0.1);
}

TEST(Plateaus, SurviveADelayedPoint) {
  auto curve = curve_of(kThreeCaches);
  for (const std::size_t delayed : {3UL, 9UL, 10UL, 14UL}) {
    curve[delayed].bytes_per_second *= 0.4;
  }
  expect_plateaus(curve, kThreeCaches, 1e-12);
}

TEST(Plateaus, OfAMachineWithoutAThirdLevel) {
  const std::vector<Level> levels{{kL1, 200 * kGiga}, {kL2, 120 * kGiga}, {0, 15 * kGiga}};
  expect_plateaus(curve_of(levels), levels, 1e-12);
}

TEST(Plateaus, OfOneSpeedAreMemoryAlone) {
  expect_plateaus(curve_of({{0, 15 * kGiga}}), {{0, 15 * kGiga}}, 1e-12);
  expect_plateaus(curve_of({{0, 15 * kGiga}}, 0.1), {{0, 15 * kGiga}}, 0.1);
}

TEST(Plateaus, OfOnePointAreThatPoint) {
  const std::vector<BandwidthPoint> curve{{3, 1000, 5 * kGiga}};
  EXPECT_EQ(find_plateaus(curve), (std::vector<Plateau>{{3, 1000, 5 * kGiga}}));
  EXPECT_THROW(find_plateaus({}), InvalidArgument);
}

TEST(Plateaus, ASlopeBetweenTwoLevelsIsNoPlateau) {
  const std::vector<BandwidthPoint> curve{
      {1, 64, 100},  {1, 128, 100}, {1, 256, 99},  {1, 512, 98},  {1, 768, 72},
      {1, 1024, 45}, {1, 2048, 21}, {1, 4096, 20}, {1, 8192, 20}, {1, 16384, 19}};
  const auto plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), 2U);
  EXPECT_EQ(plateaus[0].bytes, 768);
  EXPECT_NEAR(plateaus[1].bytes_per_second, 20, 1);
}

std::vector<TimedRead> reads_of(double overhead, double bytes_per_second, double noise) {
  const Random random(2);
  std::vector<TimedRead> reads;
  for (Offset bytes = 1 << 14; bytes <= 1 << 26; bytes *= 2) {
    const double seconds = overhead + static_cast<double>(bytes) / bytes_per_second;
    reads.push_back({bytes, seconds * (1 + noise * random.uniform(reads.size(), -1, 1))});
  }
  return reads;
}

TEST(HockneyFit, FitRecoversOverheadAndBandwidth) {
  const HockneyFit exact = fit_hockney(reads_of(3e-6, 25 * kGiga, 0));
  EXPECT_NEAR(exact.overhead_seconds, 3e-6, 1e-12);
  EXPECT_NEAR(exact.bytes_per_second, 25 * kGiga, 1e-3 * kGiga);
  EXPECT_NEAR(exact.relative_error, 0, 1e-9);
  const HockneyFit noisy = fit_hockney(reads_of(3e-6, 25 * kGiga, 0.05));
  EXPECT_NEAR(noisy.overhead_seconds / 3e-6, 1, 0.05);
  EXPECT_NEAR(noisy.bytes_per_second / (25 * kGiga), 1, 0.05);
  EXPECT_GT(noisy.relative_error, 0.005);
  EXPECT_LT(noisy.relative_error, 0.05);
}

TEST(HockneyFit, KeepsWhatItWasFittedTo) {
  const auto reads = reads_of(3e-6, 25 * kGiga, 0.05);
  EXPECT_EQ(fit_hockney(reads).samples, reads);
}

TEST(HockneyFit, OverheadIsNeverNegative) {
  const std::vector<TimedRead> reads{{1000, 1e-9}, {2000, 1e-6}, {4000, 4e-6}};
  const HockneyFit fit = fit_hockney(reads);
  EXPECT_GE(fit.overhead_seconds, 0);
  EXPECT_GT(fit.bytes_per_second, 0);
}

TEST(HockneyFit, NeedsReadsOfDifferentSizes) {
  const std::vector<TimedRead> same{{1000, 1e-6}, {1000, 1.1e-6}};
  EXPECT_THROW(fit_hockney(same), InvalidArgument);
  EXPECT_THROW(fit_hockney(std::span(same).first(1)), InvalidArgument);
  EXPECT_THROW(fit_hockney({}), InvalidArgument);
  const std::vector<TimedRead> no_time{{1000, 0}, {2000, 1e-6}};
  EXPECT_THROW(fit_hockney(no_time), InvalidArgument);
}

}  // namespace
}  // namespace strata::test
