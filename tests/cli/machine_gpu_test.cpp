// strata machine on a GPU.

#include <cstdlib>

#include "strata/device/device.hpp"
#include "tests/cli/command.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class MachineGpu : public CommandTest {
 protected:
  MachineGpu() { setenv("STRATA_CACHE_DIR", file("cache").c_str(), 1); }
  ~MachineGpu() override { unsetenv("STRATA_CACHE_DIR"); }
  void SetUp() override {
    if (gpu::device_count() == 0) GTEST_SKIP() << "no GPU: " << gpu::why_no_device();
  }
  std::string backend() const { return std::string(name_of(gpu::api())); }
};

TEST_F(MachineGpu, MeasuresOnceAndRemembers) {
  const json first = json_of({"machine", "--backend", backend()})["results"][0];
  EXPECT_EQ(first["kernel"], "machine");
  EXPECT_EQ(first["backend"], backend());
  EXPECT_EQ(first["device"]["index"], 0);
  EXPECT_EQ(first["measured_now"], true);
  EXPECT_GT(first["memory_bytes_per_second"], 0);
  EXPECT_GE(first["hockney"]["samples"].size(), 2U);
  json second = json_of({"machine", "--backend", backend()})["results"][0];
  EXPECT_EQ(second["measured_now"], false);
  second["measured_now"] = true;
  EXPECT_EQ(second, first);
}

TEST_F(MachineGpu, ShowsATable) {
  const Outcome outcome = run({"machine", "--backend", backend()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"multiprocessors", "plateaus", "times memory", "BabelStream", "launch",
                           "Hockney", "gpu-"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST_F(MachineGpu, AllIsTheProcessorAndTheGpu) {
  const json results =
      json_of({"machine", "--backend", "all", "--threads", "1", "--seconds", "0.05"})["results"];
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0]["backend"], "cpu");
  EXPECT_EQ(results[1]["backend"], backend());
}

TEST_F(MachineGpu, ADeviceThatIsNotThereIsStatus4) {
  expect_failure({"machine", "--backend", backend(), "--device", "999"}, 4,
                 "device 999 was asked for");
}

}  // namespace
}  // namespace strata::test
