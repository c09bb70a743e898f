#include "strata/machine/gpu/measure.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "strata/base/error.hpp"
#include "strata/machine/gpu/known.hpp"
#include "strata/machine/gpu/stored_facts.hpp"
#include "tests/support/gpu.hpp"

namespace strata::test {
namespace {

namespace fs = std::filesystem;

class GpuMeasure : public GpuTest {};

// Every speed is possible, but not every fact.
TEST_F(GpuMeasure, FindsWhatAGpuCanBe) {
  const gpu::GpuFacts facts = gpu::measure_gpu();
  EXPECT_EQ(facts.device, gpu::device_properties(0));
  const gpu::BabelStreamRates& stream = facts.stream;
  for (const double rate : {stream.copy, stream.mul, stream.add, stream.triad, stream.dot,
                            stream.read, facts.ramp_up.bytes_per_second, facts.launch_seconds}) {
    EXPECT_GT(rate, 0);
  }
  EXPECT_GE(facts.graph_node_seconds, 0);
  EXPECT_EQ(facts.barrier_seconds > 0, facts.device.cooperative_launch);
  EXPECT_GE(facts.ramp_up.overhead_seconds, 0);
  EXPECT_GE(facts.l2_bandwidth(), facts.memory_bandwidth());
  EXPECT_GT(facts.memory_bandwidth(), 0);
  for (std::size_t i = 0; i < facts.read.size(); ++i) {
    EXPECT_GT(facts.read[i].bytes_per_second, 0);
    if (i > 0) {
      EXPECT_GT(facts.read[i].bytes, facts.read[i - 1].bytes);
    }
  }
  EXPECT_GE(facts.read.back().bytes, 4 * facts.device.l2_bytes);
  EXPECT_EQ(gpu::facts_from_json(gpu::to_json(facts), "here"), facts);
}

TEST_F(GpuMeasure, LittleMemoryIsEnough) {
  const gpu::GpuFacts facts = gpu::measure_gpu({.device = 0, .bytes = 1});
  EXPECT_EQ(facts.stream.array_bytes, 1 << 20);
  EXPECT_EQ(facts.read.back().bytes, 1 << 20);
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

TEST_F(GpuMeasure, FactsAreStoredAndACorruptFileIsReplaced) {
  std::string name = (fs::temp_directory_path() / "strata-gpu-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path path = fs::path(name) / "folder" / "facts.json";
  const gpu::GpuMeasureOptions quick{.device = 0, .bytes = 1};
  const gpu::KnownGpuFacts first = gpu::load_or_measure(path, quick);
  EXPECT_TRUE(first.measured);
  EXPECT_EQ(first.remark, "");
  const gpu::KnownGpuFacts second = gpu::load_or_measure(path, quick);
  EXPECT_FALSE(second.measured);
  EXPECT_EQ(second.facts, first.facts);
  std::ofstream(path) << "{";
  const gpu::KnownGpuFacts third = gpu::load_or_measure(path, quick);
  EXPECT_TRUE(third.measured);
  EXPECT_NE(third.remark.find("is not JSON"), std::string::npos) << third.remark;
  EXPECT_EQ(gpu::load_facts(path), third.facts);
  gpu::GpuFacts foreign = third.facts;
  foreign.device.driver = "1.0";
  gpu::save_facts(foreign, path);
  const gpu::KnownGpuFacts fourth = gpu::load_or_measure(path, quick);
  EXPECT_TRUE(fourth.measured);
  EXPECT_NE(fourth.remark.find("another device or driver"), std::string::npos) << fourth.remark;
  fs::permissions(path.parent_path(), fs::perms::all);
  const gpu::KnownGpuFacts fifth = gpu::load_or_measure(path, quick);
  EXPECT_FALSE(fifth.stored);
  EXPECT_NE(fifth.remark.find("can be written by others"), std::string::npos) << fifth.remark;
  fs::remove_all(name);
}

}  // namespace
}  // namespace strata::test
