#include "strata/machine/gpu/measure.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "strata/base/error.hpp"
#include "strata/machine/gpu/cached_profile.hpp"
#include "strata/machine/gpu/device_profile.hpp"
#include "tests/support/gpu.hpp"

namespace strata::test {
namespace {

namespace fs = std::filesystem;

class GpuMeasure : public GpuTest {};

// Every speed is possible, but not every profile.
TEST_F(GpuMeasure, FindsWhatAGpuCanBe) {
  const gpu::GpuProfile profile = gpu::measure_gpu();
  EXPECT_EQ(profile.device, gpu::device_properties(0));
  const gpu::BabelStreamRates& stream = profile.stream;
  for (const double rate :
       {stream.copy, stream.mul, stream.add, stream.triad, stream.dot, stream.read,
        profile.hockney.bytes_per_second, profile.launch_seconds}) {
    EXPECT_GT(rate, 0);
  }
  EXPECT_GE(profile.graph_node_seconds, 0);
  EXPECT_EQ(profile.barrier_seconds > 0, profile.device.cooperative_launch);
  EXPECT_GE(profile.hockney.overhead_seconds, 0);
  EXPECT_GE(profile.l2_bandwidth(), profile.memory_bandwidth());
  EXPECT_GT(profile.memory_bandwidth(), 0);
  for (std::size_t i = 0; i < profile.read.size(); ++i) {
    EXPECT_GT(profile.read[i].bytes_per_second, 0);
    if (i > 0) {
      EXPECT_GT(profile.read[i].bytes, profile.read[i - 1].bytes);
    }
  }
  EXPECT_GE(profile.read.back().bytes, 4 * profile.device.l2_bytes);
  EXPECT_EQ(gpu::profile_from_json(gpu::to_json(profile), "here"), profile);
}

TEST_F(GpuMeasure, LittleMemoryIsEnough) {
  const gpu::GpuProfile profile = gpu::measure_gpu({.device = 0, .bytes = 1});
  EXPECT_EQ(profile.stream.array_bytes, 1 << 20);
  EXPECT_EQ(profile.read.back().bytes, 1 << 20);
}

TEST_F(GpuMeasure, ProgressRisesAndMayGiveUp) {
  double before = 0;
  gpu::GpuMeasureOptions options{.device = 0, .bytes = 1};
  options.progress = [&](std::string_view what, double share_done) {
    EXPECT_FALSE(what.empty());
    EXPECT_GE(share_done, before);
    EXPECT_LE(share_done, 1);
    before = share_done;
  };
  gpu::measure_gpu(options);
  EXPECT_GT(before, 0.5);
  options.progress = [](std::string_view, double) { throw std::runtime_error("enough"); };
  EXPECT_THROW(gpu::measure_gpu(options), std::runtime_error);
}

TEST_F(GpuMeasure, NonsenseIsRefused) {
  EXPECT_THROW(gpu::measure_gpu({.device = 0, .bytes = -1}), InvalidArgument);
  EXPECT_THROW(gpu::measure_gpu({.device = gpu::device_count()}), Unavailable);
}

TEST_F(GpuMeasure, ProfileAreStoredAndACorruptFileIsReplaced) {
  std::string name = (fs::temp_directory_path() / "strata-gpu-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path path = fs::path(name) / "folder" / "profile.json";
  const gpu::GpuMeasureOptions quick{.device = 0, .bytes = 1};
  const gpu::CachedGpuProfile first = gpu::load_or_measure(path, quick);
  EXPECT_TRUE(first.measured);
  EXPECT_EQ(first.remark, "");
  const gpu::CachedGpuProfile second = gpu::load_or_measure(path, quick);
  EXPECT_FALSE(second.measured);
  EXPECT_EQ(second.profile, first.profile);
  std::ofstream(path) << "{";
  const gpu::CachedGpuProfile third = gpu::load_or_measure(path, quick);
  EXPECT_TRUE(third.measured);
  EXPECT_NE(third.remark.find("is not JSON"), std::string::npos) << third.remark;
  EXPECT_EQ(gpu::load_profile(path), third.profile);
  gpu::GpuProfile foreign = third.profile;
  foreign.device.driver = "1.0";
  gpu::save_profile(foreign, path);
  const gpu::CachedGpuProfile fourth = gpu::load_or_measure(path, quick);
  EXPECT_TRUE(fourth.measured);
  EXPECT_NE(fourth.remark.find("another device or driver"), std::string::npos) << fourth.remark;
  fs::permissions(path.parent_path(), fs::perms::all);
  const gpu::CachedGpuProfile fifth = gpu::load_or_measure(path, quick);
  EXPECT_FALSE(fifth.stored);
  EXPECT_NE(fifth.remark.find("can be written by others"), std::string::npos) << fifth.remark;
  fs::remove_all(name);
}

}  // namespace
}  // namespace strata::test
