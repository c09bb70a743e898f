#include "strata/machine/facts.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/machine/support.hpp"

namespace strata::test {
namespace {

TEST(MachineFacts, BandwidthIsExactWhereItWasMeasured) {
  const MachineFacts facts = imaginary_machine();
  for (const BandwidthPoint& point : facts.read) {
    EXPECT_EQ(facts.read_bandwidth(point.threads, point.bytes), point.bytes_per_second);
  }
}

TEST(MachineFacts, BandwidthIsInterpolatedInTheLogarithmOfTheWorkingSet) {
  const MachineFacts facts = imaginary_machine();
  EXPECT_NEAR(facts.read_bandwidth(1, 4 * kMega), 70 * kGiga, 1);
  EXPECT_NEAR(facts.read_bandwidth(1, 40 * kMega), 25 * kGiga, 0.01 * kGiga);
}

TEST(MachineFacts, BandwidthFallsWithTheWorkingSetAndRisesWithThreads) {
  const MachineFacts facts = imaginary_machine();
  for (int threads = 1; threads <= 4; ++threads) {
    double before = INFINITY;
    for (Offset bytes = 1000; bytes < 1000 * kMega; bytes += 1 + bytes / 7) {
      const double rate = facts.read_bandwidth(threads, bytes);
      EXPECT_LE(rate, before) << bytes;
      EXPECT_GE(rate, facts.read_bandwidth(threads - 1, bytes)) << bytes;
      before = rate;
    }
  }
}

TEST(MachineFacts, BeyondWhatWasMeasuredTheNearestFigureHolds) {
  const MachineFacts facts = imaginary_machine();
  EXPECT_EQ(facts.read_bandwidth(1, 1), 100 * kGiga);
  EXPECT_EQ(facts.read_bandwidth(1, 1000000 * kMega), 10 * kGiga);
  EXPECT_EQ(facts.read_bandwidth(0, 100 * kMega), 10 * kGiga);
  EXPECT_EQ(facts.read_bandwidth(64, 100 * kMega), 20 * kGiga);
  EXPECT_EQ(facts.memory_bandwidth(64), 20 * kGiga);
}

TEST(MachineFacts, BetweenThreadCountsFiguresAreInterpolated) {
  const MachineFacts facts = imaginary_machine();
  EXPECT_NEAR(facts.memory_bandwidth(2), (10 + 10.0 / 3) * kGiga, 1);
  EXPECT_NEAR(facts.read_bandwidth(3, 100 * kKilo), (100 + 200 * 2.0 / 3) * kGiga, 1);
  EXPECT_EQ(facts.private_cache_bytes(2), 2 * kMega);
}

TEST(MachineFacts, CachesEndWhereTheirPlateausEnd) {
  const MachineFacts facts = imaginary_machine();
  EXPECT_EQ(facts.cache_bytes(1), 16 * kMega);
  EXPECT_EQ(facts.cache_bytes(4), 16 * kMega);
  EXPECT_EQ(facts.private_cache_bytes(1), 1 * kMega);
  EXPECT_EQ(facts.private_cache_bytes(4), 4 * kMega);
  EXPECT_EQ(facts.last_level_bytes(), 16 * kMega);
}

TEST(MachineFacts, APlateauThatGoesOnBeyondThePrivateCacheIsCutThere) {
  MachineFacts facts = imaginary_machine();
  facts.plateaus = {{1, 16 * kMega, 100 * kGiga}, {1, 100 * kMega, 10 * kGiga}};
  EXPECT_EQ(facts.private_cache_bytes(1), 1 * kMega);
  EXPECT_EQ(facts.cache_bytes(1), 16 * kMega);
}

TEST(MachineFacts, WithoutReportedCachesThePrivateOneIsTheSecondPlateau) {
  MachineFacts facts = imaginary_machine();
  facts.caches.clear();
  facts.plateaus = {{1, 32 * kKilo, 200 * kGiga},
                    {1, 1 * kMega, 100 * kGiga},
                    {1, 16 * kMega, 40 * kGiga},
                    {1, 100 * kMega, 10 * kGiga}};
  EXPECT_EQ(facts.private_cache_bytes(1), 1 * kMega);
  EXPECT_EQ(facts.last_level_bytes(), 0);
}

TEST(MachineFacts, AMachineOfOneSpeedHasNoCache) {
  MachineFacts facts = imaginary_machine();
  facts.plateaus = {{1, 100 * kMega, 10 * kGiga}};
  EXPECT_EQ(facts.cache_bytes(1), 0);
  EXPECT_EQ(facts.private_cache_bytes(1), 0);
  EXPECT_EQ(facts.memory_bandwidth(1), 10 * kGiga);
}

TEST(MachineFacts, EveryInstanceOfACacheCounts) {
  MachineFacts facts = imaginary_machine();
  facts.caches.back().shared_by = 3;
  EXPECT_EQ(facts.last_level_bytes(), 32 * kMega);
  EXPECT_EQ(facts.all_instances(facts.caches.back(), 1), 16 * kMega);
  EXPECT_EQ(facts.all_instances(facts.caches[1], 3), 3 * kMega);
}

TEST(MachineFacts, HardwareThreadsOfOneCoreShareItsPrivateCache) {
  MachineFacts facts = imaginary_machine();
  for (CacheFacts& cache : facts.caches) cache.shared_by = std::max(cache.shared_by, 2);
  facts.plateaus[3].bytes = 1500 * kKilo;
  EXPECT_EQ(facts.private_cache_bytes(4), 1500 * kKilo);
  EXPECT_EQ(facts.private_cache_bytes(1), 1 * kMega);
}

}  // namespace
}  // namespace strata::test
