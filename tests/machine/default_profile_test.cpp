#include "strata/machine/default_profile.hpp"

#include <gtest/gtest.h>

#include "strata/machine/cached_profile.hpp"
#include "strata/machine/gpu/cached_profile.hpp"
#include "strata/machine/measure.hpp"
#include "tests/machine/gpu/support.hpp"

namespace strata::test {
namespace {

TEST(DefaultProfile, IsOneThatCouldHaveBeenMeasured) {
  for (const int threads : {0, 1, 2, 3, 64}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    const MachineProfile profile = default_profile(threads);
    EXPECT_EQ(profile_from_json(to_json(profile), "here"), profile);
    const MachineProfile reported = reported_profile(threads);
    EXPECT_EQ(profile.cores, reported.cores);
    EXPECT_EQ(profile.caches, reported.caches);
    EXPECT_EQ(profile.processor, reported.processor);
    EXPECT_EQ(profile.read.back().threads, profile.cores);
  }
}

TEST(DefaultProfile, ReadsCachesFasterThanMemoryWithAnyNumberOfThreads) {
  const MachineProfile profile = default_profile(64);
  double before = 0;
  for (int threads = 1; threads <= 64; ++threads) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    const double memory = profile.memory_bandwidth(threads);
    EXPECT_GE(memory, before);
    EXPECT_GT(profile.read_bandwidth(threads, 16 << 10), 2 * memory);
    EXPECT_EQ(profile.read_bandwidth(threads, Offset{1} << 50), memory);
    EXPECT_GT(profile.cache_bytes(threads), 0);
    before = memory;
  }
}

TEST(DefaultProfile, OfOneCoreNeedsNoHandoffs) {
  EXPECT_EQ(default_profile(1).handoff_seconds, 0);
  EXPECT_GT(default_profile(2).handoff_seconds, 0);
}

TEST(DefaultProfile, OfAGpuIsOneThatCouldHaveBeenMeasured) {
  gpu::DeviceProperties device = imaginary_gpu().device;
  for (const bool cooperative : {true, false}) {
    device.cooperative_launch = cooperative;
    const gpu::GpuProfile profile = gpu::default_profile(device);
    EXPECT_EQ(gpu::profile_from_json(gpu::to_json(profile), "here"), profile);
    EXPECT_EQ(profile.device, device);
    EXPECT_GT(profile.l2_bandwidth(), profile.memory_bandwidth());
    EXPECT_LT(profile.l2_bytes(), device.l2_bytes);
    EXPECT_GT(profile.l2_bytes(), device.l2_bytes / 2);
    EXPECT_EQ(profile.barrier_seconds > 0, cooperative);
    EXPECT_EQ(profile.handoff_seconds > 0, cooperative);
  }
}

}  // namespace
}  // namespace strata::test
