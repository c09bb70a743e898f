// strata spmv: plain products of formats and peers.

#include <set>

#include "strata/formats/format.hpp"
#include "tests/cli/benchmark.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class Spmv : public BenchmarkTest {};

// As results name them.
std::set<std::string> every_format() {
  std::set<std::string> all{"packed-sell-full"};
  for (const Format format : kFormats) all.emplace(name_of(format));
  return all;
}

TEST_F(Spmv, FormatsAndPeersAgreeWithTheReference) {
  const json document = json_of(quick({"spmv", "stencil27:10x10x30"}));
  std::set<std::string> formats;
  bool eigen = false;
  int plans = 0;
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["kernel"], "spmv");
    EXPECT_EQ(result["error"]["passed"], true) << result;
    EXPECT_GT(result["gflops"], 0);
    EXPECT_GT(result["gbytes_per_second"], 0);
    EXPECT_GT(result["percent_of_memory_bandwidth"], 0);
    EXPECT_GT(result["speedup_over_vendor"], 0);
    EXPECT_GE(result["threads"], 1);
    if (result["backend"] == "cpu") formats.insert(result["format"]);
    plans += result["variant"].get<std::string>().starts_with("plan: ") ? 1 : 0;
    eigen = eigen || result["variant"].get<std::string>().starts_with("Eigen ");
  }
  EXPECT_EQ(formats, every_format());
  EXPECT_TRUE(eigen);
  EXPECT_EQ(plans, 1);
}

TEST_F(Spmv, TheReferenceKnowsEveryFormat) {
  const json document = json_of(quick({"spmv", "stencil5:30x20", "--backend", "reference"}));
  std::set<std::string> formats;
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["backend"], "reference");
    EXPECT_EQ(result["error"]["passed"], true) << result;
    formats.insert(result["format"]);
  }
  EXPECT_EQ(formats, every_format());
}

TEST_F(Spmv, FormatsTakeParameters) {
  const json document = json_of(
      quick({"spmv", "stencil5:30x20", "--format",
             "sell:slice_height=8,sort_window=16,bcsr:block_rows=3", "--backend", "reference"}));
  ASSERT_EQ(document["results"].size(), 2U);
  EXPECT_EQ(document["results"][0]["variant"], "BCSR 3x2");
  EXPECT_EQ(document["results"][0]["parameters"], json({{"block_rows", 3}, {"block_cols", 2}}));
  EXPECT_EQ(document["results"][1]["variant"], "SELL-8-16");
  EXPECT_EQ(document["results"][1]["parameters"], json({{"slice_height", 8}, {"sort_window", 16}}));
  expect_failure({"spmv", "stencil5:9x9", "--format", "sell:height=8"}, 2, "slice_height");
  expect_failure({"spmv", "stencil5:9x9", "--format", "packed-sell:slice_height=5"}, 2,
                 "4, 8, 16 or 32");
}

// Side by side, with the bytes that each really moves.
TEST_F(Spmv, ShowsWhatEncodedValuesSave) {
  const json document = json_of(quick({"spmv", "stencil7:16x16x16", "--format",
                                       "packed-sell,packed-sell-full", "--backend", "cpu"}));
  ASSERT_EQ(document["results"].size(), 8U);
  for (int i = 0; i < 4; ++i) {
    const json& encoded = document["results"][i];
    const json& full = document["results"][i + 4];
    EXPECT_EQ(encoded["format"], "packed-sell");
    EXPECT_EQ(full["format"], "packed-sell-full");
    EXPECT_EQ(encoded["parameters"]["slice_height"], full["parameters"]["slice_height"]);
    EXPECT_LT(4 * encoded["bytes"]["format"].get<int>(), full["bytes"]["format"].get<int>());
    EXPECT_EQ(full["encodings"]["value"], json({{"full", 1.0}}));
    EXPECT_FALSE(encoded["encodings"]["value"].contains("full"));
    const double moved =
        full["gbytes_per_second"].get<double>() * full["seconds"]["median"].get<double>() * 1e9;
    EXPECT_NEAR(moved, full["bytes"]["format"].get<double>() + 3 * 8 * 4096, 1);
  }
}

TEST_F(Spmv, FormatsThatRefuseSayWhy) {
  const json document =
      json_of(quick({"spmv", "arrow:5000", "--format", "ell,csr", "--backend", "reference"}));
  ASSERT_EQ(document["results"].size(), 2U);
  EXPECT_TRUE(document["results"][0].contains("seconds"));
  EXPECT_TRUE(document["results"][1].contains("refused"));
}

TEST_F(Spmv, AllTypesAndShapesAreRight) {
  write_file(file("wide.mtx"),
             "%%MatrixMarket matrix coordinate real general\n2 5 3\n1 5 1\n2 1 2\n2 3 -1\n");
  write_file(file("tall.mtx"), "%%MatrixMarket matrix coordinate real general\n5 1 1\n4 1 3\n");
  for (const Words& words : {Words{file("wide.mtx")},
                             {file("tall.mtx")},
                             {"random:3000,nnzr=9", "--precision", "single"},
                             {"random:3000,nnzr=9", "--precision", "complex-double"},
                             {"rmat:10,edges=8", "--index", "64", "--threads", "3"}}) {
    SCOPED_TRACE(testing::PrintToString(words));
    Words all = quick({"spmv"});
    all.insert(all.end(), words.begin(), words.end());
    const json document = json_of(all);
    int right = 0;
    for (const json& result : document["results"]) {
      if (result.contains("refused")) continue;
      EXPECT_EQ(result["error"]["passed"], true) << result;
      ++right;
    }
    EXPECT_GT(right, 10);
  }
}

TEST_F(Spmv, TheJsonSaysWhatWasChecked) {
  const json document = json_of(quick({"spmv", "stencil5:30x20"}));
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["error"]["elements"], 600);
    EXPECT_EQ(result["error"]["judged"], 600);
    EXPECT_EQ(result["error"]["wrong"], 0);
    EXPECT_EQ(result["error"]["power"], 1);
    EXPECT_LT(result["error"]["row"], 600);
    EXPECT_EQ(result["error"]["vector"], 0);
    EXPECT_NEAR(result["error"]["largest_tolerance"], 5 * 0x1p-53, 1e-20);
    EXPECT_LE(result["error"]["relative"], result["error"]["tolerance"]);
  }
}

TEST_F(Spmv, SmallRowsBesideHugeOnesAreJudged) {
  write_file(file("huge.mtx"),
             "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1e17\n2 2 1\n3 3 1\n");
  const json document = json_of(quick({"spmv", file("huge.mtx")}));
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["error"]["judged"], 3);
    EXPECT_NEAR(result["error"]["largest_tolerance"], 0x1p-53, 1e-20);
  }
}

TEST_F(Spmv, AutoTakesTheFewestBytes) {
  const json document = json_of(quick({"spmv", "stencil27:10x10x30", "--format", "auto"}));
  int own = 0;
  for (const json& result : document["results"]) {
    if (result["backend"] != "cpu") continue;
    EXPECT_EQ(result["format"], "packed-sell");
    ++own;
  }
  EXPECT_GT(own, 0);
}

TEST_F(Spmv, TextNamesTheFastest) {
  const Outcome outcome = run(quick({"spmv", "stencil5:60x60", "--format", "csr"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"over peers", "CSR", "Eigen", "Fastest: ", "All results agree"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST_F(Spmv, AGpuThatIsNotAvailableIsStatus4AndSaysWhatMachineSays) {
  expect_missing_gpus_to_be_status_4(quick({"spmv", "stencil5:9x9"}), {"", "vendor,", "cpu,"});
}

TEST_F(Spmv, AllIsAtLeastTheProcessor) {
  const json document =
      json_of(quick({"spmv", "stencil5:30x20", "--backend", "all", "--format", "csr"}));
  std::set<std::string> backends;
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["error"]["passed"], true) << result;
    // What runs on a processor has threads, what runs on a GPU its number.
    EXPECT_NE(result.contains("threads"), result.contains("device")) << result;
    if (result.contains("threads")) backends.insert(result["backend"]);
  }
  EXPECT_EQ(backends, (std::set<std::string>{"cpu", "reference", "vendor"}));
}

TEST_F(Spmv, WhatIsNotAvailableOrDoesNotExistFails) {
  expect_failure({"spmv", "stencil5:9x9", "--device", "-1"}, 2, "--device");
  expect_failure({"spmv", "stencil5:9x9", "--backend", "fpga"}, 2, "fpga");
  expect_failure({"spmv", "stencil5:9x9", "--format", "bsr"}, 2, "there are coo, csr,");
  expect_failure({"spmv", "stencil5:9x9", "--format", "csr-stream", "--backend", "cpu"}, 4,
                 "kernel");
  expect_failure({"spmv"}, 2, "--help");
}

}  // namespace
}  // namespace strata::test
