// strata spmv on a GPU: kernels and the vendor's library.

#include <algorithm>
#include <set>

#include "tests/cli/benchmark_gpu.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class SpmvGpu : public GpuBenchmarkTest {
 protected:
  // With the vendor's library; in its place `with`.
  static Words products(const std::string& matrix, const std::string& with = ",vendor") {
    return quick({"spmv", matrix, "--backend", backend() + with});
  }
};

TEST_F(SpmvGpu, FormatsAndTheVendorAgreeWithTheReference) {
  const json document = json_of(products("stencil27:20x20x30"));
  EXPECT_GT(document["machine"]["gpu"]["memory_read_bytes_per_second"], 0);
  std::set<std::string> variants;
  int vendors = 0;
  int plans = 0;
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["kernel"], "spmv");
    EXPECT_EQ(result["device"], 0);
    if (result["backend"] == "vendor") {
      ++vendors;
    } else {
      EXPECT_EQ(result["backend"], backend());
      const std::string variant = result["variant"];
      if (variant.starts_with("plan: ")) {
        ++plans;
      } else {
        EXPECT_TRUE(variants.insert(variant).second) << variant << " is there twice";
      }
    }
    if (result.contains("refused")) continue;
    EXPECT_EQ(result["error"]["passed"], true) << result;
    EXPECT_EQ(result["error"]["judged"], 12000);
    EXPECT_GE(result["seconds"]["repetitions"], 20);
    for (const char* key : {"gflops", "gbytes_per_second", "percent_of_memory_bandwidth"}) {
      EXPECT_GT(result[key], 0) << key;
    }
    EXPECT_GT(result["predicted"]["gflops"], 0);
    EXPECT_GT(result["predicted"]["with_latency_gflops"], 0);
    EXPECT_GT(result["bytes"]["format"], 0);
  }
  // 24.7 entries per row, four per thread or, by the rule of Reguly, √24.7.
  EXPECT_EQ(variants, (std::set<std::string>{"COO",
                                             "CSR as a stream",
                                             "CSR in equal parts",
                                             "CSR, 1 thread per row",
                                             "CSR, 8 threads per row",
                                             "CSR of Reguly, coop 8, repeat 1, blocks of 128",
                                             "symmetric CSR",
                                             "ELL",
                                             "HYB",
                                             "DIA",
                                             "BCSR 2x2",
                                             "BCSR 3x3",
                                             "SELL-32-1",
                                             "SELL-32-256",
                                             "packed SELL-8",
                                             "packed SELL-16",
                                             "packed SELL-32",
                                             "packed SELL-8, full values",
                                             "packed SELL-16, full values",
                                             "packed SELL-32, full values"}));
  EXPECT_EQ(plans, 1);
  // CSR three times, SELL, COO twice and blocks of four sizes.
  EXPECT_EQ(vendors, STRATA_HAS_VENDOR ? 10 : 0);
}

// Side by side, with the bytes that each really moves.
TEST_F(SpmvGpu, ShowsWhatEncodedValuesSave) {
  Words words = products("stencil7:16x16x16", "");
  words.insert(words.end(), {"--format", "packed-sell,packed-sell-full"});
  const json results = json_of(words)["results"];
  ASSERT_EQ(results.size(), 6U);
  for (int i = 0; i < 3; ++i) {
    const json& encoded = results[i];
    const json& full = results[i + 3];
    EXPECT_EQ(encoded["format"], "packed-sell");
    EXPECT_EQ(full["format"], "packed-sell-full");
    EXPECT_EQ(encoded["parameters"]["slice_height"], full["parameters"]["slice_height"]);
    EXPECT_LT(4 * encoded["bytes"]["format"].get<int>(), full["bytes"]["format"].get<int>());
    EXPECT_EQ(full["encodings"]["value"], json({{"full", 1.0}}));
    EXPECT_FALSE(encoded["encodings"]["value"].contains("full"));
    for (const json& result : {encoded, full}) {
      const double moved = result["gbytes_per_second"].get<double>() *
                           result["seconds"]["median"].get<double>() * 1e9;
      EXPECT_NEAR(moved, result["bytes"]["format"].get<double>() + 2 * 8 * 4096, 1);
    }
  }
}

TEST_F(SpmvGpu, SpeedUpIsOverTheBestOfTheVendor) {
  if (!STRATA_HAS_VENDOR) GTEST_SKIP() << "no library of the vendor";
  double best = 0;
  double product = 0;
  const json document = json_of(products("stencil7:20x20x20"));
  for (const json& result : document["results"]) {
    if (result.contains("refused")) continue;
    const double gflops = result["gflops"];
    if (result["backend"] == "vendor") best = std::max(best, gflops);
    if (result["variant"] == "packed SELL-32")
      product = gflops / result["speedup_over_vendor"].get<double>();
  }
  EXPECT_GT(best, 0);
  EXPECT_NEAR(product, best, 1e-6 * best);
}

TEST_F(SpmvGpu, AllTypesAndShapesAreRight) {
  write_file(file("wide.mtx"),
             "%%MatrixMarket matrix coordinate real general\n2 5 3\n1 5 1\n2 1 2\n2 3 -1\n");
  write_file(file("tall.mtx"), "%%MatrixMarket matrix coordinate real general\n5 1 1\n4 1 3\n");
  write_file(file("empty.mtx"), "%%MatrixMarket matrix coordinate real general\n3 3 0\n");
  for (const Words& words : {Words{file("wide.mtx")},
                             {file("tall.mtx")},
                             {file("empty.mtx")},
                             {"arrow:5000"},
                             {"random:3000,nnzr=9", "--precision", "single"},
                             {"random:3000,nnzr=9", "--precision", "complex-double"},
                             {"random:3000,nnzr=9", "--precision", "complex-single"},
                             {"rmat:10,edges=8", "--index", "64"}}) {
    SCOPED_TRACE(testing::PrintToString(words));
    Words all = products(words.front());
    all.insert(all.end(), words.begin() + 1, words.end());
    const json document = json_of(all);
    int timed = 0;
    for (const json& result : document["results"]) {
      if (result.contains("refused")) continue;
      EXPECT_EQ(result["error"]["passed"], true) << result;
      ++timed;
    }
    EXPECT_GE(timed, 1);
  }
}

TEST_F(SpmvGpu, EveryKernelOfCsrTakesRowsOfManyLengths) {
  Words words = products("arrow:5000", "");
  words.insert(words.end(), {"--format", "csr"});
  const json results = json_of(words)["results"];
  ASSERT_EQ(results.size(), 5U);  // what the device takes by itself, then every other kernel
  EXPECT_EQ(results[0]["variant"], "CSR as a stream");
  for (const json& result : results) {
    EXPECT_EQ(result["error"]["passed"], true) << result;
    EXPECT_FALSE(result.contains("speedup_over_vendor"));
  }
}

TEST_F(SpmvGpu, SweepsOverTheParametersOfReguly) {
  Words words = products("stencil27:20x20x30", "");
  words.insert(words.end(), {"--format", "csr-reguly", "--coop", "1,4", "--repeat", "1,2"});
  const json results = json_of(words)["results"];
  std::set<std::pair<int, int>> swept;
  for (const json& result : results) {
    EXPECT_EQ(result["error"]["passed"], true) << result;
    const json& parameters = result["parameters"];
    swept.emplace(parameters["coop"].get<int>(), parameters["repeat"].get<int>());
  }
  for (const int coop : {1, 4}) {
    for (const int repeat : {1, 2}) {
      EXPECT_TRUE(swept.contains({coop, repeat})) << coop << ", " << repeat;
    }
  }
}

TEST_F(SpmvGpu, SweepsOverTheBlockSizesOfReguly) {
  Words words = products("stencil27:20x20x30", "");
  words.insert(words.end(), {"--format", "csr-reguly", "--block-size", "64:256,96,100"});
  std::set<int> swept;
  bool refused = false;
  const json document = json_of(words);
  for (const json& result : document["results"]) {
    if (result.contains("refused")) {
      EXPECT_NE(result["refused"].get<std::string>().find("blocks of 100"), std::string::npos);
      refused = true;
      continue;
    }
    EXPECT_EQ(result["error"]["passed"], true) << result;
    swept.insert(result["parameters"]["block_size"].get<int>());
  }
  EXPECT_TRUE(refused);
  EXPECT_TRUE(std::ranges::includes(swept, std::set{64, 96, 128, 256}));
}

TEST_F(SpmvGpu, AutoTakesTheFewestBytes) {
  Words words = products("stencil27:20x20x30", "");
  words.insert(words.end(), {"--format", "auto"});
  const json results = json_of(words)["results"];
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0]["format"], "packed-sell");
}

TEST_F(SpmvGpu, ShowsATable) {
  const Outcome outcome = run(products("stencil5:60x60", ",cpu,vendor"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"Imaginary 4000", "threads", "device 0: ", "of roofline", "Eigen",
                           "packed SELL-32", "Fastest: ", "All results agree"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST_F(SpmvGpu, ADeviceThatIsNotThereIsStatus4) {
  Words words = products("stencil5:9x9");
  words.insert(words.end(), {"--device", "999"});
  expect_failure(words, 4, "device 999 was asked for");
}

TEST_F(SpmvGpu, FormatsWithoutAKernelAreStatus4) {
  Words words = products("stencil5:9x9", "");
  words.insert(words.end(), {"--format", "jds"});
  expect_failure(words, 4, "kernel");
}

}  // namespace
}  // namespace strata::test
