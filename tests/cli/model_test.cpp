// strata model: predictions without a run.

#include "strata/machine/gpu/cached_profile.hpp"
#include "tests/cli/benchmark.hpp"
#include "tests/machine/gpu/support.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class Model : public BenchmarkTest {
 protected:
  static const json& line(const json& document, const std::string& variant, int power) {
    for (const json& result : document["results"]) {
      if (result["variant"].get<std::string>().starts_with(variant) && result["power"] == power) {
        return result;
      }
    }
    ADD_FAILURE() << "no " << variant << " at p = " << power;
    return document;
  }
};

TEST_F(Model, BalancesAreThePublishedOnes) {
  const json document = json_of({"model", "stencil5:30x20"});
  const double per_row = 2900.0 / 600;
  EXPECT_NEAR(line(document, "SELL-32, x and y once", 1)["bytes_per_flop"],
              4 / (32 * per_row) + 6 + 8 / per_row, 1e-9);
  EXPECT_NEAR(line(document, "CRS, x once", 1)["bytes_per_flop"], 6 + 14 / per_row, 1e-9);
  EXPECT_NEAR(line(document, "CRS, x for every", 1)["bytes_per_flop"], 10 + 10 / per_row, 1e-9);
  EXPECT_NEAR(line(document, "CSR, true", 1)["bytes_per_flop"],
              (12.0 * 2900 + 8 * 601 + 24 * 600) / (2 * 2900), 1e-9);
}

TEST_F(Model, PowersGainWithP) {
  const json document = json_of({"model", "stencil27:10x10x10", "-p", "4"});
  double before = 0;
  for (int power = 1; power <= 4; ++power) {
    const json& result = line(document, "private caches", power);
    EXPECT_GE(result["speedup_over_spmv"].get<double>(), before);
    EXPECT_GE(result["predicted"]["overlapped_gflops"], result["predicted"]["gflops"]);
    before = result["speedup_over_spmv"];
  }
  EXPECT_NEAR(line(document, "private caches", 1)["speedup_over_spmv"], 1, 1e-12);
}

TEST_F(Model, RectangularAndEmptyMatricesHaveNoPowersToPredict) {
  write_file(file("wide.mtx"), "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 1\n");
  write_file(file("zero.mtx"), "%%MatrixMarket matrix coordinate real general\n4 4 0\n");
  EXPECT_NE(run({"model", file("wide.mtx")}).out.find("has no powers"), std::string::npos);
  EXPECT_NE(run({"model", file("zero.mtx")}).out.find("no entries"), std::string::npos);
}

TEST_F(Model, AGpuThatIsNotAvailableIsStatus4AndSaysWhatMachineSays) {
  expect_missing_gpus_to_be_status_4({"model", "stencil5:9x9"}, {"", "cpu,"});
}

// 8 TB/s from an L2 of 40 MB, 4 from memory; kernels reach 3.9 after 3 µs.
TEST_F(Model, GpusElsewhereArePredictedFromTheirProfile) {
  save_profile(imaginary_gpu(), file("gpu.json"));
  const json document = json_of({"model", "stencil5:30x20", "-p", "4", "--gpu", file("gpu.json")});
  EXPECT_EQ(document["machine"]["gpu"]["name"], "Imaginary 9000");
  for (const json& result : document["results"]) EXPECT_EQ(result["backend"], "cuda");

  const double per_row = 2900.0 / 600;
  const json& sell = line(document, "SELL-32, x and y once", 1);
  const double balance = 4 / (32 * per_row) + 6 + 8 / per_row;
  EXPECT_NEAR(sell["bytes_per_flop"], balance, 1e-9);
  EXPECT_NEAR(sell["predicted"]["gflops"], 4000 / balance, 1e-6);
  const double bytes = balance * 2 * 2900;
  EXPECT_NEAR(sell["predicted"]["with_latency_gflops"], 2 * 2900 / (3e-6 + bytes / 3900e9) / 1e9,
              1e-6);
  // Stores on a GPU do not load their line first.
  EXPECT_NEAR(line(document, "CSR, true", 1)["bytes_per_flop"],
              (12.0 * 2900 + 8 * 601 + 16 * 600) / (2 * 2900), 1e-9);
  const json& powers = line(document, "L2", 4);
  EXPECT_NEAR(powers["speedup_over_spmv"], 1 / (0.25 + 0.75 / 2), 1e-9);
  EXPECT_NEAR(powers["predicted"]["overlapped_gflops"].get<double>() /
                  line(document, "L2", 1)["predicted"]["overlapped_gflops"].get<double>(),
              2, 1e-9);
}

TEST_F(Model, GpusElsewhereStandBesideTheProcessor) {
  save_profile(imaginary_gpu(), file("gpu.json"));
  const Outcome outcome =
      run({"model", "stencil5:30x20", "--gpu", file("gpu.json"), "--backend", "all"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part :
       {"Imaginary 4000", "private caches", "Imaginary 9000, device 1: 4000 GB/s",
        "in L2, 40.0 MB: 8000 GB/s, 2.00 times memory", "a kernel each"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST_F(Model, ProfileThatCannotBeUsedFail) {
  save_profile(imaginary_gpu(), file("gpu.json"));
  write_file(file("broken.json"), "{");
  expect_failure({"model", "stencil5:9x9", "--gpu", file("none.json")}, 3, "no such file");
  expect_failure({"model", "stencil5:9x9", "--gpu", file("broken.json")}, 3, "broken.json");
  expect_failure({"model", "stencil5:9x9", "--gpu", file("gpu.json"), "--backend", "hip"}, 2,
                 "a GPU for cuda");
  expect_failure({"model", "stencil5:9x9", "--backend", "vendor"}, 4, "vendor");
}

}  // namespace
}  // namespace strata::test
