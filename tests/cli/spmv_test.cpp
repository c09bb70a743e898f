// strata spmv: plain products of formats and peers.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "strata/formats/format.hpp"
#include "strata/gen/generate.hpp"
#include "strata/model/product_model.hpp"
#include "tests/cli/benchmark.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class Spmv : public BenchmarkTest {
 protected:
  // Of the results of our own kernels, in their order.
  static std::vector<std::string> variants(const json& document) {
    std::vector<std::string> all;
    for (const json& result : document["results"]) {
      if (result["backend"] != "vendor") all.push_back(result["variant"]);
    }
    return all;
  }
};

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
    EXPECT_NEAR(result["roofline"]["percent"],
                100 * result["gflops"].get<double>() / result["roofline"]["gflops"].get<double>(),
                1e-6);
    EXPECT_EQ(result["alpha"]["predicted"], 0) << "all of it stays in cache";
    EXPECT_FALSE(result["alpha"].contains("inferred"));
    EXPECT_TRUE(result.contains("break_even_products"));
    if (result["backend"] == "cpu") formats.insert(result["format"]);
    plans += result["variant"].get<std::string>().starts_with("plan: ") ? 1 : 0;
    eigen = eigen || result["variant"].get<std::string>().starts_with("Eigen ");
  }
  EXPECT_EQ(formats, every_format());
  EXPECT_TRUE(eigen);
  EXPECT_EQ(plans, 1);
}

TEST_F(Spmv, APlanTakesPartByName) {
  const auto variants_with = [&](const std::string& formats) {
    std::vector<std::string> variants;
    const json document =
        json_of(quick({"spmv", "stencil5:30x20", "--backend", "cpu", "--format", formats}));
    for (const json& result : document["results"]) variants.push_back(result["variant"]);
    return variants;
  };
  const auto alone = variants_with("plan");
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_TRUE(alone[0].starts_with("plan: ")) << alone[0];
  const auto beside = variants_with("dia,plan");
  ASSERT_EQ(beside.size(), 2U);
  EXPECT_EQ(beside[0], "DIA");
  EXPECT_TRUE(beside[1].starts_with("plan: ")) << beside[1];
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

// 20 GB/s from memory, for the caches hold next to nothing.
TEST_F(Spmv, ModelsStandBesideEveryTime) {
  MachineProfile profile = imaginary_machine();
  profile.caches = {{1, 64 * kKilo, 1}};
  profile.plateaus = {{1, 64 * kKilo, 100 * kGiga}, {1, 1 * kMega, 20 * kGiga}};
  save_profile(profile, profile_path());
  const json document = json_of(quick(
      {"spmv", "stencil5:100x100", "--format", "csr,sell", "--backend", "cpu", "--threads", "1"}));
  ASSERT_EQ(document["results"].size(), 6U);  // CSR with four kernels, SELL with two windows
  const auto matrix = generate<double, std::int32_t>("stencil5:100x100");
  const double alpha = predicted_alpha(matrix.pattern(), {.bytes = 62 * 1024, .ways = 16});
  EXPECT_GT(alpha, 0.2) << "x once is 0.2016";
  const auto seconds_of = [](const json& result) {
    return result["seconds"]["median"].get<double>();
  };
  const json& csr = document["results"][0];
  EXPECT_EQ(csr["break_even_products"], 0);
  for (const json& result : document["results"]) {
    const double seconds = seconds_of(result);
    const double stored = result["bytes"]["format"];
    EXPECT_NEAR(result["alpha"]["predicted"], alpha, 1e-12);
    EXPECT_NEAR(result["alpha"]["inferred"], (seconds * 20e9 - stored - 16e4) / (8 * 49600), 1e-6);
    EXPECT_EQ(result["roofline"]["limit"], "dram");
    EXPECT_NEAR(result["roofline"]["gflops"], 2 * 49600 / ((stored + 24e4) / 20e9) / 1e9, 1e-9);
    const double behind =
        result["setup_seconds"].get<double>() - csr["setup_seconds"].get<double>();
    const double gain = seconds_of(csr) - seconds;
    if (gain > 0) {
      EXPECT_EQ(result["break_even_products"], std::max(0.0, std::ceil(behind / gain)));
    } else if (gain < 0) {
      EXPECT_TRUE(result["break_even_products"].is_null());
    }
    // Reguly's bandwidths are for CSR alone.
    ASSERT_EQ(result.contains("csr_gbytes_per_second"), result["format"] == "csr");
  }
  const json& rates = csr["csr_gbytes_per_second"];
  const double scale = 1e-9 / seconds_of(csr);
  EXPECT_NEAR(rates["effective"], (20 * 49600 + 12 * 10000) * scale, 1e-9);
  EXPECT_NEAR(rates["worst"], 64 * (3 * 49600 + 2 * 10000) * scale, 1e-9);
  EXPECT_NEAR(rates["minimum"], (12 * 49600 + 20 * 10000) * scale, 1e-9);
  // One thread has all rows: every line of x once, as in the minimum.
  EXPECT_NEAR(rates["caching"], rates["minimum"].get<double>(), 1e-9);
}

TEST_F(Spmv, SweepsOverSliceHeightsAndSortWindows) {
  using Variants = std::vector<std::string>;
  const auto swept = [&](const Words& words) {
    Words all = quick({"spmv", "stencil5:30x20", "--backend", "cpu"});
    all.insert(all.end(), words.begin(), words.end());
    return variants(json_of(all));
  };
  EXPECT_EQ(swept({"--format", "sell", "-C", "1:32"}),
            (Variants{"SELL-1-1", "SELL-2-1", "SELL-4-1", "SELL-8-1", "SELL-16-1", "SELL-32-1"}));
  EXPECT_EQ(swept({"--format", "sell", "-C", "3,8:15,8", "--sigma", "1,24"}),
            (Variants{"SELL-3-1", "SELL-3-24", "SELL-8-1", "SELL-8-24"}));
  // Windows smaller than a slice do nothing but for 1.
  EXPECT_EQ(swept({"--format", "sell:slice_height=8", "--sigma", "1:32"}),
            (Variants{"SELL-8-1", "SELL-8-8", "SELL-8-16", "SELL-8-32"}));
  // Packed SELL has slices of 4 rows and more, and CSR no slices at all.
  EXPECT_EQ(swept({"-C", "1:8", "--format", "csr-parts,packed-sell,packed-sell-full"}),
            (Variants{"CSR in equal parts", "packed SELL-4", "packed SELL-8",
                      "packed SELL-4, full values", "packed SELL-8, full values"}));
  // What is swept over when no format is given, with CSR to compare with.
  EXPECT_EQ(swept({"-C", "8"}), (Variants{"CSR", "CSR in equal parts", "CSR with gathers",
                                          "CSR entry by entry", "SELL-8-1", "packed SELL-8"}));
}

TEST_F(Spmv, SweepsOverThreadsShowWhereMoreStopToHelp) {
  const Words words = quick(
      {"spmv", "stencil5:60x60", "--format", "csr", "--backend", "cpu,vendor", "--threads", "1:3"});
  const json document = json_of(words);
  std::map<std::string, std::vector<int>> threads;
  std::map<std::string, std::vector<double>> rates;
  int scalings = 0;
  for (const json& result : document["results"]) {
    const std::string variant = result["variant"];
    if (result["kernel"] == "spmv") {
      EXPECT_EQ(result["error"]["passed"], true) << result;
      threads[variant].push_back(result["threads"]);
      rates[variant].push_back(result["gflops"]);
      continue;
    }
    EXPECT_EQ(result["kernel"], "scaling");
    EXPECT_EQ(result["thread_counts"], (std::vector{1, 2, 3}));
    ASSERT_EQ(result["gflops_by_threads"], rates[variant]);
    const double best = *std::ranges::max_element(rates[variant]);
    int saturated = 1;
    while (rates[variant][saturated - 1] < 0.95 * best) ++saturated;
    EXPECT_EQ(result["saturated_at_threads"], saturated);
    EXPECT_EQ(result["gbytes_per_second_by_threads"].size(), 3U);
    ++scalings;
  }
  EXPECT_EQ(threads["CSR"], (std::vector{1, 2, 3}));
  EXPECT_EQ(threads["CSR in equal parts"], (std::vector{1, 2, 3}));
  EXPECT_GE(scalings, 3) << "with Eigen";
  const Outcome outcome = run(words);
  EXPECT_NE(outcome.out.find("GB/s by threads"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("95 % with"), std::string::npos) << outcome.out;
}

TEST_F(Spmv, OneNumberOfThreadsIsNoSweep) {
  const json document = json_of(quick({"spmv", "stencil5:30x20", "--format", "csr-parts",
                                       "--backend", "reference,cpu", "--threads", "2"}));
  ASSERT_EQ(document["results"].size(), 1U);
  EXPECT_EQ(document["results"][0]["threads"], 2);
}

TEST_F(Spmv, SweepsOverNonsenseAreWrongUsage) {
  const auto refuse = [&](const Words& words, const std::string& part) {
    Words all{"spmv", "stencil5:9x9"};
    all.insert(all.end(), words.begin(), words.end());
    expect_failure(all, 2, part);
  };
  refuse({"-C", "0:4"}, "0 is outside 1 …");
  refuse({"-C", "8:2"}, "'8:2' ends before it begins");
  refuse({"-C", "x"}, "'x' is not a number");
  refuse({"-C", "5:7"}, "no power of two");
  refuse({"-C", "1:"}, "'' is not a number");
  refuse({"-C", "1,,2"}, "'' is not a number");
  refuse({"--sigma", "-4"}, "--sigma");
  refuse({"--coop", "64"}, "64 is outside 1 … 32");
  refuse({"--threads", "0"}, "--threads");
  refuse({"--threads", "1:1025"}, "1025 is outside 1 … 1024");
  refuse({"--coop", "1:32"}, "GPU");
  refuse({"--repeat", "1,2"}, "GPU");
  refuse({"--block-size", "64:256"}, "GPU");
  refuse({"--block-size", "2048"}, "2048 is outside 1 … 1024");
  refuse({"-C", "64", "--format", "packed-sell"}, "such slices");
  refuse({"--sigma", "4", "--format", "csr"}, "such slices");
}

TEST_F(Spmv, TextNamesTheFastest) {
  const Outcome outcome = run(quick({"spmv", "stencil5:60x60", "--format", "csr"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part :
       {"over peers", "of roofline", "α", "set-up", "pays after", "check", " ok\n",
        "predicted are 0", "CSR", "Eigen", "Fastest: ", "All results agree"}) {
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
