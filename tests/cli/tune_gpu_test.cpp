// strata tune on a GPU: what is searched, what is remembered.

#include "tests/cli/benchmark_gpu.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class TuneGpu : public ProfiledGpuTest {
 protected:
  static Words tune(const std::string& matrix, const Words& more = {}) {
    Words words = quick({"tune", matrix, "--timed", "2", "--backend", backend()});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  void expect_text(const Words& words, const std::string& part) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find(part), std::string::npos) << outcome.out;
  }
};

TEST_F(TuneGpu, TimesTheBestProductsOfTheDevice) {
  const json document = json_of(tune("stencil27:5x5x5"));
  EXPECT_GT(document["machine"]["gpu"]["memory_read_bytes_per_second"], 0);
  int timed = 0;
  double before = 0;
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["kernel"], "tune");
    EXPECT_EQ(result["backend"], backend());
    EXPECT_EQ(result["device"], 0);
    EXPECT_FALSE(result.contains("threads"));
    if (!result.contains("seconds")) continue;
    EXPECT_GE(result["seconds"]["median"], before) << result;
    EXPECT_GT(result["gflops"], 0);
    EXPECT_GT(result["predicted"]["seconds"], 0);
    before = result["seconds"]["median"];
    ++timed;
  }
  EXPECT_EQ(timed, 3);
}

TEST_F(TuneGpu, RemembersForTheDeviceAndNotForTheProcessor) {
  expect_text(tune("stencil5:9x9"), "Remembered for this matrix and machine");
  expect_text(tune("stencil5:9x9"), "Known since");
  expect_text(tune("stencil5:9x9", {"--again"}), "device 0");
  setenv("STRATA_PROFILE", "read", 1);  // register blocks of the processor take seconds to measure
  expect_text(quick({"tune", "stencil5:9x9", "--timed", "1"}), "Fastest: ");
  unsetenv("STRATA_PROFILE");
}

TEST_F(TuneGpu, ProcessorAndDeviceAreSearchedOneAfterTheOther) {
  setenv("STRATA_PROFILE", "read", 1);
  const json results = json_of(
      quick({"tune", "stencil5:9x9", "--timed", "1", "--backend", "cpu," + backend()}))["results"];
  unsetenv("STRATA_PROFILE");
  EXPECT_EQ(results.front()["backend"], "cpu");
  EXPECT_EQ(results.back()["backend"], backend());
}

TEST_F(TuneGpu, RegisterBlocksAreOfProcessors) {
  expect_failure(tune("stencil5:9x9", {"--registers"}), 2, "--registers");
}

TEST_F(TuneGpu, ADeviceThatIsNotThereIsStatus4) {
  expect_failure(tune("stencil5:9x9", {"--device", "999"}), 4, "device 999 was asked for");
}

}  // namespace
}  // namespace strata::test
