#include "strata/machine/profile.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/machine/support.hpp"

namespace strata::test {
namespace {

TEST(MachineProfile, BandwidthIsExactWhereItWasMeasured) {
  const MachineProfile profile = imaginary_machine();
  for (const BandwidthPoint& point : profile.read) {
    EXPECT_EQ(profile.read_bandwidth(point.threads, point.bytes), point.bytes_per_second);
  }
}

TEST(MachineProfile, BandwidthIsInterpolatedInTheLogarithmOfTheWorkingSet) {
  const MachineProfile profile = imaginary_machine();
  EXPECT_NEAR(profile.read_bandwidth(1, 4 * kMega), 70 * kGiga, 1);
  EXPECT_NEAR(profile.read_bandwidth(1, 40 * kMega), 25 * kGiga, 0.01 * kGiga);
}

TEST(MachineProfile, BandwidthFallsWithTheWorkingSetAndRisesWithThreads) {
  const MachineProfile profile = imaginary_machine();
  for (int threads = 1; threads <= 4; ++threads) {
    double before = INFINITY;
    for (Offset bytes = 1000; bytes < 1000 * kMega; bytes += 1 + bytes / 7) {
      const double rate = profile.read_bandwidth(threads, bytes);
      EXPECT_LE(rate, before) << bytes;
      EXPECT_GE(rate, profile.read_bandwidth(threads - 1, bytes)) << bytes;
      before = rate;
    }
  }
}

TEST(MachineProfile, BeyondWhatWasMeasuredTheNearestFigureHolds) {
  const MachineProfile profile = imaginary_machine();
  EXPECT_EQ(profile.read_bandwidth(1, 1), 100 * kGiga);
  EXPECT_EQ(profile.read_bandwidth(1, 1000000 * kMega), 10 * kGiga);
  EXPECT_EQ(profile.read_bandwidth(0, 100 * kMega), 10 * kGiga);
  EXPECT_EQ(profile.read_bandwidth(64, 100 * kMega), 20 * kGiga);
  EXPECT_EQ(profile.memory_bandwidth(64), 20 * kGiga);
}

TEST(MachineProfile, BetweenThreadCountsFiguresAreInterpolated) {
  const MachineProfile profile = imaginary_machine();
  EXPECT_NEAR(profile.memory_bandwidth(2), (10 + 10.0 / 3) * kGiga, 1);
  EXPECT_NEAR(profile.read_bandwidth(3, 100 * kKilo), (100 + 200 * 2.0 / 3) * kGiga, 1);
  EXPECT_EQ(profile.private_cache_bytes(2), 2 * kMega);
}

TEST(MachineProfile, CachesEndWhereTheirPlateausEnd) {
  const MachineProfile profile = imaginary_machine();
  EXPECT_EQ(profile.cache_bytes(1), 16 * kMega);
  EXPECT_EQ(profile.cache_bytes(4), 16 * kMega);
  EXPECT_EQ(profile.private_cache_bytes(1), 1 * kMega);
  EXPECT_EQ(profile.private_cache_bytes(4), 4 * kMega);
  EXPECT_EQ(profile.last_level_bytes(), 16 * kMega);
}

TEST(MachineProfile, APlateauThatGoesOnBeyondThePrivateCacheIsCutThere) {
  MachineProfile profile = imaginary_machine();
  profile.plateaus = {{1, 16 * kMega, 100 * kGiga}, {1, 100 * kMega, 10 * kGiga}};
  EXPECT_EQ(profile.private_cache_bytes(1), 1 * kMega);
  EXPECT_EQ(profile.cache_bytes(1), 16 * kMega);
}

TEST(MachineProfile, WithoutReportedCachesThePrivateOneIsTheSecondPlateau) {
  MachineProfile profile = imaginary_machine();
  profile.caches.clear();
  profile.plateaus = {{1, 32 * kKilo, 200 * kGiga},
                      {1, 1 * kMega, 100 * kGiga},
                      {1, 16 * kMega, 40 * kGiga},
                      {1, 100 * kMega, 10 * kGiga}};
  EXPECT_EQ(profile.private_cache_bytes(1), 1 * kMega);
  EXPECT_EQ(profile.last_level_bytes(), 0);
}

TEST(MachineProfile, AMachineOfOneSpeedHasNoCache) {
  MachineProfile profile = imaginary_machine();
  profile.plateaus = {{1, 100 * kMega, 10 * kGiga}};
  EXPECT_EQ(profile.cache_bytes(1), 0);
  EXPECT_EQ(profile.private_cache_bytes(1), 0);
  EXPECT_EQ(profile.memory_bandwidth(1), 10 * kGiga);
}

TEST(MachineProfile, EveryInstanceOfACacheCounts) {
  MachineProfile profile = imaginary_machine();
  profile.caches.back().shared_by = 3;
  EXPECT_EQ(profile.last_level_bytes(), 32 * kMega);
  EXPECT_EQ(profile.all_instances(profile.caches.back(), 1), 16 * kMega);
  EXPECT_EQ(profile.all_instances(profile.caches[1], 3), 3 * kMega);
}

TEST(MachineProfile, HardwareThreadsOfOneCoreShareItsPrivateCache) {
  MachineProfile profile = imaginary_machine();
  for (CacheLevel& cache : profile.caches) cache.shared_by = std::max(cache.shared_by, 2);
  profile.plateaus[3].bytes = 1500 * kKilo;
  EXPECT_EQ(profile.private_cache_bytes(4), 1500 * kKilo);
  EXPECT_EQ(profile.private_cache_bytes(1), 1 * kMega);
}

}  // namespace
}  // namespace strata::test
