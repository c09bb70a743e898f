// strata hpcg and strata fem on a GPU.

#include "tests/cli/benchmark_gpu.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class AppsGpu : public GpuBenchmarkTest {};

TEST_F(AppsGpu, HpcgPassesItsChecks) {
  const json document = json_of({"hpcg", "32x32x32", "--time", "0.1", "--backend", backend()});
  ASSERT_EQ(document["results"].size(), 1U);
  const json& result = document["results"][0];
  EXPECT_EQ(result["backend"], backend());
  EXPECT_EQ(result["passed"], true) << result["checks"];
  EXPECT_FALSE(result.contains("threads"));
  EXPECT_GT(result["gflops"], 0);
  for (const json& part : result["parts"]) EXPECT_GT(part["predicted_seconds"], 0) << part;
}

TEST_F(AppsGpu, FemRunsBesideTheProcessor) {
  const json document = json_of(
      {"fem", "64x48", "--iterations", "10", "--degree", "1,4", "--backend", "cpu," + backend()});
  ASSERT_EQ(document["results"].size(), 2U * 2 * 5);
  int on_gpu = 0;
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["passed"], true) << result;
    if (result["backend"] == backend()) ++on_gpu;
  }
  EXPECT_EQ(on_gpu, 10);
}

}  // namespace
}  // namespace strata::test
