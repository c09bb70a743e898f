// strata mpk, explain and model on a GPU.

#include <algorithm>
#include <set>

#include "tests/cli/benchmark_gpu.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class MpkGpu : public GpuBenchmarkTest {
 protected:
  // Powers of a matrix on the GPU, `with` other backends, and more options.
  static Words powers(const std::string& matrix, const Words& options = {},
                      const std::string& with = "") {
    Words words = quick({"mpk", matrix, "--backend", backend() + with});
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }
  static void expect_right(const json& results) {
    ASSERT_GE(results.size(), 1U);
    for (const json& result : results) EXPECT_EQ(result["error"]["passed"], true) << result;
  }
};

TEST_F(MpkGpu, JsonHasTheKeysOfTheContract) {
  const json document = json_of(powers("stencil27:20x20x60", {"-p", "3"}));
  EXPECT_GT(document["machine"]["gpu"]["memory_read_bytes_per_second"], 0);
  ASSERT_GE(document["results"].size(), 2U);
  for (const json& result : document["results"]) {
    for (const char* key :
         {"kernel", "backend", "format", "variant", "strategy", "power", "parameters", "device",
          "precision", "asked", "setup_seconds", "seconds", "gflops", "gbytes_per_second",
          "percent_of_memory_bandwidth", "bytes", "speedup_over_spmv", "error", "predicted"}) {
      EXPECT_TRUE(result.contains(key)) << key;
    }
    EXPECT_EQ(result["kernel"], "mpk");
    EXPECT_EQ(result["backend"], backend());
    EXPECT_EQ(result["device"], 0);
    EXPECT_FALSE(result.contains("threads"));
    EXPECT_FALSE(result.contains("speedup_over_vendor"));
    EXPECT_EQ(result["error"]["passed"], true);
    EXPECT_EQ(result["error"]["compared_powers"], 3);
    EXPECT_EQ(result["error"]["judged"], 3 * 24000);
    EXPECT_NEAR(result["error"]["largest_tolerance"], 27 * 0x1p-53, 1e-20);
    EXPECT_GE(result["seconds"]["repetitions"], 20);
    for (const char* key :
         {"gflops", "overlapped_gflops", "sell_gflops", "blocked_gflops", "with_latency_gflops"}) {
      EXPECT_GT(result["predicted"][key], 0) << key;
    }
  }
  EXPECT_EQ(document["results"][0]["strategy"], "spmv") << "plain products come first";
}

TEST_F(MpkGpu, TheVendorIsTheLastLineAndTheMeasureOfTheOthers) {
  if (!STRATA_HAS_VENDOR) GTEST_SKIP() << "no library of the vendor";
  const json results = json_of(powers("stencil7:30x30x30", {"-p", "4"}, ",vendor"))["results"];
  expect_right(results);
  const json& vendor = results.back();
  EXPECT_EQ(vendor["backend"], "vendor");
  EXPECT_NE(vendor["variant"].get<std::string>().find("cuSPARSE"), std::string::npos);
  EXPECT_EQ(vendor["error"]["compared_powers"], 4);
  for (const json& result : results) {
    const double ratio =
        vendor["seconds"]["median"].get<double>() / result["seconds"]["median"].get<double>();
    EXPECT_NEAR(result["speedup_over_vendor"], ratio, 1e-9 * ratio);
  }
  EXPECT_NEAR(vendor["speedup_over_vendor"], 1, 1e-12);
}

TEST_F(MpkGpu, TheVendorAloneIsOneLinePerPower) {
  if (!STRATA_HAS_VENDOR) GTEST_SKIP() << "no library of the vendor";
  const json results = json_of(quick({"mpk", "stencil5:50x40", "-p", "1:3", "--basis", "scaled=8",
                                      "--backend", "vendor"}))["results"];
  ASSERT_EQ(results.size(), 3U);
  expect_right(results);
  EXPECT_FALSE(results[0].contains("speedup_over_spmv"));
  write_file(file("wide.mtx"), "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 1\n");
  expect_failure(quick({"mpk", file("wide.mtx"), "--backend", "vendor"}), 2,
                 "1 x 2 matrix has no powers");
  expect_failure(quick({"mpk", "stencil5:9x9", "--backend", "vendor", "--vectors", "2"}), 4,
                 "one vector");
}

TEST_F(MpkGpu, WhatTheVendorDoesNotHaveIsLeftOutWithTheReason) {
  if (!STRATA_HAS_VENDOR) GTEST_SKIP() << "no library of the vendor";
  const json results =
      json_of(powers("stencil5:50x40", {"--basis", "chebyshev=0:8"}, ",vendor"))["results"];
  EXPECT_EQ(results.back()["backend"], "vendor");
  EXPECT_TRUE(results.back().contains("refused"));
  EXPECT_FALSE(results[0].contains("speedup_over_vendor"));
  EXPECT_EQ(results[0]["error"]["passed"], true);
}

TEST_F(MpkGpu, EveryOptionLeavesTheResultRight) {
  for (const Words& options : {Words{"--basis", "chebyshev=0:8"},
                               {"--basis", "scaled=8"},
                               {"--basis", "newton=1,2:1,2:-1"},
                               {"--vectors", "3"},
                               {"--vectors", "8", "--order", "plan"},
                               {"--order", "plan"},
                               {"--format", "csr"},
                               {"--format", "sell"},
                               {"--format", "packed-sell", "--slice-height", "16"},
                               {"--block", "2"},
                               {"--strategy", "spmv"},
                               {"--strategy", "wavefront"},
                               {"--precision", "single"},
                               {"--precision", "complex-double", "--index", "64"},
                               {"--precision", "complex-single"}}) {
    SCOPED_TRACE(testing::PrintToString(options));
    Words words{"-p", "3"};
    words.insert(words.end(), options.begin(), options.end());
    const json results = json_of(powers("stencil5:140x160,shuffle=1", words))["results"];
    expect_right(results);
    for (const json& result : results) EXPECT_EQ(result["error"]["compared_powers"], 3);
  }
}

TEST_F(MpkGpu, PowersFrom1To16AreRight) {
  const json results =
      json_of(powers("stencil7:24x24x60", {"-p", "1,2,5,16", "--basis", "scaled=12"}))["results"];
  expect_right(results);
  std::set<int> seen;
  for (const json& result : results) seen.insert(result["power"].get<int>());
  EXPECT_EQ(seen, (std::set<int>{1, 2, 5, 16}));
}

TEST_F(MpkGpu, RunsWithThePowerThatIsBestForSoManyProducts) {
  const json results = json_of(powers("stencil27:20x20x60,coefficients=random",
                                      {"-p", "best", "--products", "50"}))["results"];
  ASSERT_GE(results.size(), 3U);
  EXPECT_EQ(results[0]["kernel"], "best-power");
  EXPECT_EQ(results[0]["backend"], backend());
  EXPECT_EQ(results[0]["device"], 0);
  EXPECT_EQ(results[0]["speeds"].size(), 12U);
  for (std::size_t i = 1; i < results.size(); ++i) {
    EXPECT_EQ(results[i]["kernel"], "mpk");
    EXPECT_EQ(results[i]["power"], results[0]["power"]);
    EXPECT_EQ(results[i]["error"]["passed"], true);
  }
  if (!STRATA_HAS_VENDOR) return;
  expect_failure({"mpk", "stencil5:9x9", "-p", "best", "--backend", "vendor"}, 2,
                 "-p best is what plans choose");
}

TEST_F(MpkGpu, AwkwardMatricesHavePowers) {
  write_file(file("zero.mtx"), "%%MatrixMarket matrix coordinate real general\n4 4 0\n");
  write_file(file("one.mtx"), "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  for (const std::string& matrix :
       {file("zero.mtx"), file("one.mtx"), std::string("arrow:3000"),
        std::string("band:5000,width=3"), std::string("random:4000,nnzr=9"),
        std::string("rmat:11,edges=10")}) {
    SCOPED_TRACE(matrix);
    expect_right(json_of(powers(matrix, {"-p", "3"}))["results"]);
  }
}

TEST_F(MpkGpu, OverflowIsReportedAndFinitePowersAreStillCompared) {
  write_file(file("huge.mtx"),
             "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1e100\n2 2 1\n2 3 1\n3 3 "
             "1\n");
  const json document = json_of(powers(file("huge.mtx"), {"-p", "5"}));
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["overflow"]["power"], 4);
    EXPECT_EQ(result["overflow"]["element"], 0);
    EXPECT_EQ(result["error"]["compared_powers"], 3);
  }
}

TEST_F(MpkGpu, ShowsTablesOfBothDevices) {
  const Outcome outcome = run(powers("stencil27:20x20x60", {"-p", "3"}, ",cpu"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"Imaginary 4000", "device 0: ", "over vendor", "milliseconds",
                           "blocked (4.8)", "with latency (4.12)", "All results agree"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST_F(MpkGpu, TracesAreOfTheProcessorAlone) {
  const json document = json_of(powers("stencil5:40x40", {"-p", "2", "--trace"}, ",cpu"));
  for (const json& result : document["results"]) {
    EXPECT_EQ(result.contains("trace"), result["backend"] == "cpu") << result;
  }
}

TEST_F(MpkGpu, WhatIsNotThereFails) {
  for (const char* command : {"mpk", "explain", "model"}) {
    expect_failure({command, "stencil5:9x9", "--backend", backend(), "--device", "999"}, 4,
                   "device 999 was asked for");
  }
  write_file(file("wide.mtx"), "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 1\n");
  expect_failure(powers(file("wide.mtx")), 2, "1 x 2 matrix has no powers");
  expect_failure({"mpk", "stencil5:9x9", "--backend", backend(), "--trace", "--json", "-"}, 2,
                 "add cpu to --backend");
}

TEST_F(MpkGpu, LevelsAreCutForTheCacheThatIsAskedFor) {
  for (const char* strategy : {"levels", "graph"}) {
    for (const char* format : {"csr", "ell", "sell", "packed-sell"}) {
      const json document =
          json_of(powers("stencil5:90x90,coefficients=random",
                         {"--strategy", strategy, "--format", format, "--cache-size", "64k,1M"}));
      std::set<Offset> sizes;
      for (const json& run : document["results"]) {
        if (run["strategy"] != strategy) continue;
        sizes.insert(run["parameters"]["cache_bytes"].get<Offset>());
        EXPECT_EQ(run["format"], format);
        EXPECT_TRUE(run["error"]["passed"]);
      }
      EXPECT_EQ(sizes, (std::set<Offset>{64 * 1024, 1024 * 1024})) << strategy << " " << format;
    }
  }
}

// Powers of 640 GB, which no GPU holds.
TEST_F(MpkGpu, TooLittleMemoryIsStatus5AndNamesTheBytes) {
  expect_failure(
      powers("stencil5:1000x1000", {"-p", "10000", "--vectors", "8", "--strategy", "spmv"}), 5,
      "bytes were asked for");
}

TEST_F(MpkGpu, ExplainShowsTheChoiceAndEveryCandidate) {
  const Words words{"explain", "stencil27:20x20x60", "-p", "4", "--backend", backend()};
  const json results = json_of(words)["results"];
  int chosen = 0;
  for (const json& result : results) {
    EXPECT_EQ(result["kernel"], "explain");
    EXPECT_EQ(result["backend"], backend());
    EXPECT_EQ(result["device"], 0);
    EXPECT_GT(result["predicted"]["gflops"], 0);
    chosen += result["chosen"].get<bool>() ? 1 : 0;
  }
  EXPECT_EQ(chosen, 1);
  EXPECT_EQ(results[0]["chosen"], true);
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Chosen: "), std::string::npos) << outcome.out;
}

TEST_F(MpkGpu, ModelPredictsFromTheProfileOfTheGpu) {
  const json document = json_of({"model", "stencil27:20x20x20", "-p", "3", "--backend", backend()});
  const double memory = document["machine"]["gpu"]["memory_read_bytes_per_second"];
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["backend"], backend());
    if (!result.contains("bytes_per_flop")) continue;
    EXPECT_NEAR(
        result["predicted"]["gflops"].get<double>() * 1e9 * result["bytes_per_flop"].get<double>(),
        memory, 1e-6 * memory);
  }
}

}  // namespace
}  // namespace strata::test
