// strata solve on a GPU: the same systems, solved as processors solve them.

#include "strata/device/device.hpp"
#include "strata/machine/gpu/cached_profile.hpp"
#include "tests/cli/benchmark.hpp"
#include "tests/machine/gpu/support.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

// The GPU of this machine, with speeds that are cached already.
class SolveGpu : public BenchmarkTest {
 protected:
  void SetUp() override {
    if (gpu::device_count() == 0) GTEST_SKIP() << "no GPU: " << gpu::why_no_device();
    gpu::GpuProfile profile = imaginary_gpu();
    profile.device = gpu::device_properties(0);
    gpu::save_profile(profile, gpu::profile_path(profile.device));
  }
  static std::string backend() { return std::string(name_of(gpu::api())); }
};

TEST_F(SolveGpu, BackendsSolveTheSameSystems) {
  const json document = json_of({"solve", "stencil5:9x9", "--method", "cg,gmres", "--backend",
                                 "cpu," + backend(), "--tol", "1e-9"});
  ASSERT_EQ(document["results"].size(), 4U);
  int number = 0;
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["kernel"], "solve");
    EXPECT_EQ(result["backend"], number % 2 == 0 ? "cpu" : backend());
    EXPECT_EQ(result["method"], number++ < 2 ? "cg" : "gmres");
    EXPECT_EQ(result["status"], "converged");
    EXPECT_LE(result["residual"], 1.01e-9);
    EXPECT_GT(result["seconds"]["iteration"], 0);
    EXPECT_GE(result["seconds"]["total"], result["seconds"]["products"]);
    EXPECT_FALSE(result["variant"].get<std::string>().empty());
  }
  EXPECT_GT(document["machine"]["gpu"]["memory_read_bytes_per_second"], 0);
}

TEST_F(SolveGpu, TheVendorSolvesByConjugateGradients) {
  const Outcome outcome = run({"solve", "stencil5:9x9", "--backend", "vendor", "--json", "-"});
  if (!STRATA_HAS_VENDOR) {
    EXPECT_EQ(outcome.status, 4);
    EXPECT_NE(outcome.err.find("without the library of a GPU's vendor"), std::string::npos);
    return;
  }
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = json::parse(outcome.out)["results"][0];
  EXPECT_EQ(result["backend"], "vendor");
  EXPECT_EQ(result["status"], "converged");
  EXPECT_NE(result["variant"].get<std::string>().find("cuSPARSE"), std::string::npos);
  EXPECT_EQ(run({"solve", "stencil5:9x9", "--backend", "vendor", "--method", "gmres"}).status, 4);
}

}  // namespace
}  // namespace strata::test
