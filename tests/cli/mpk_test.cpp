// strata mpk: the power benchmark.

#include <iterator>
#include <set>
#include <utility>

#include "tests/cli/benchmark.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class Mpk : public BenchmarkTest {};

TEST_F(Mpk, JsonHasTheKeysOfTheContract) {
  const json document =
      json_of(quick({"mpk", "stencil27:12x12x40,coefficients=random", "-p", "3"}));
  EXPECT_GT(document["machine"]["memory_read_bytes_per_second"], 0);
  EXPECT_EQ(document["matrix"]["rows"], 5760);
  ASSERT_GE(document["results"].size(), 2U);
  for (const json& result : document["results"]) {
    for (const char* key :
         {"kernel", "backend", "format", "variant", "strategy", "power", "parameters", "threads",
          "precision", "setup_seconds", "seconds", "gflops", "gbytes_per_second", "bytes",
          "speedup_over_spmv", "percent_of_memory_bandwidth", "error", "predicted"}) {
      EXPECT_TRUE(result.contains(key)) << key;
    }
    EXPECT_EQ(result["kernel"], "mpk");
    EXPECT_EQ(result["backend"], "cpu");
    EXPECT_EQ(result["power"], 3);
    EXPECT_EQ(result["precision"], "double");
    EXPECT_EQ(result["error"]["passed"], true);
    EXPECT_EQ(result["error"]["compared_powers"], 3);
    EXPECT_EQ(result["error"]["elements"], 3 * 5760);
    EXPECT_EQ(result["error"]["judged"], 3 * 5760);
    EXPECT_EQ(result["error"]["wrong"], 0);
    EXPECT_LE(result["error"]["relative"], result["error"]["tolerance"]);
    // 8 entries in a corner, 27 inside: as many roundings of 2⁻⁵³.
    EXPECT_GE(result["error"]["tolerance"], 8 * 0x1p-53);
    EXPECT_LE(result["error"]["tolerance"], result["error"]["largest_tolerance"]);
    EXPECT_NEAR(result["error"]["largest_tolerance"], 27 * 0x1p-53, 1e-20);
    EXPECT_GE(result["seconds"]["repetitions"], 1);
    EXPECT_LE(result["seconds"]["min"], result["seconds"]["median"]);
    EXPECT_LE(result["seconds"]["median"], result["seconds"]["p95"]);
    EXPECT_GT(result["predicted"]["gflops"], 0);
    EXPECT_GE(result["bytes"]["format"].get<double>(), 8.0 * document["matrix"]["nnz"].get<int>());
  }
  EXPECT_EQ(document["results"][0]["strategy"], "spmv") << "plain products come first";
}

TEST_F(Mpk, RunsWithThePowerThatIsBestForSoManyProducts) {
  const Words words =
      quick({"mpk", "band:20000,width=9,coefficients=random", "-p", "best", "--products", "7"});
  const json results = json_of(words)["results"];
  ASSERT_GE(results.size(), 3U);
  EXPECT_EQ(results[0]["kernel"], "best-power");
  EXPECT_EQ(results[0]["products"], 7);
  EXPECT_LE(results[0]["power"], 7);
  EXPECT_EQ(results[0]["speeds"].back()["power"], 7);
  for (std::size_t i = 1; i < results.size(); ++i) {
    EXPECT_EQ(results[i]["kernel"], "mpk");
    EXPECT_EQ(results[i]["power"], results[0]["power"]);
    EXPECT_EQ(results[i]["error"]["passed"], true);
  }
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("for 7 products"), std::string::npos) << outcome.out;
}

TEST_F(Mpk, ThePowerIsChosenOrGiven) {
  const auto fails = [&](const Words& options, const std::string& why) {
    Words words{"mpk", "stencil5:9x9"};
    words.insert(words.end(), options.begin(), options.end());
    expect_failure(words, 2, why);
  };
  fails({"-p", "4", "--products", "9"}, "--products is for -p best");
  fails({"-p", "best", "--products", "0"}, "0 products are too few");
  fails({"-p", "best", "--products", "many"}, "'many' is not a number of products");
  fails({"-p", "best", "--block", "2"}, "--block");
  fails({"-p", "best", "--cache-size", "1M,2M"}, "one --cache-size");
  fails({"-p", "2,best"}, "'best' is not a power");
  fails({"-p", "best", "--basis", "newton=1,2"}, "the Newton basis has 2");
}

TEST_F(Mpk, AllStrategiesAgreeWithTheReference) {
  const json document =
      json_of(quick({"mpk", "mesh:3000,dim=2,nnzr=7,shuffle=1", "-p", "4", "--strategy", "all"}));
  std::set<std::string> asked;
  for (const json& result : document["results"]) {
    asked.insert(result["asked"]);
    EXPECT_EQ(result["error"]["passed"], true);
    EXPECT_EQ(result.contains("window_bytes"), result["strategy"] != "spmv");
  }
  EXPECT_EQ(asked, (std::set<std::string>{"spmv", "levels", "wavefront", "auto"}));
}

TEST_F(Mpk, EveryOptionLeavesTheResultRight) {
  for (const Words& options : {Words{"--basis", "chebyshev=0:8"},
                               {"--basis", "scaled=8"},
                               {"--basis", "newton=1,2:1,2:-1"},
                               {"--vectors", "3"},
                               {"--order", "plan"},
                               {"--order", "plan", "--vectors", "2"},
                               {"--format", "csr"},
                               {"--format", "sell"},
                               {"--format", "packed-sell", "--slice-height", "16"},
                               {"--format", "packed-sell", "--values", "full"},
                               {"--values", "all"},
                               {"--block", "2"},
                               {"--threads", "3"},
                               {"--precision", "single"},
                               {"--precision", "complex-double", "--index", "64"},
                               {"--cache-size", "64k"}}) {
    SCOPED_TRACE(testing::PrintToString(options));
    Words words = quick({"mpk", "stencil5:40x60,shuffle=1", "-p", "3", "--strategy", "levels"});
    words.insert(words.end(), options.begin(), options.end());
    const json document = json_of(words);
    ASSERT_EQ(document["results"].size(), 3U) << "plain as given, plain in levels, levels";
    for (const json& result : document["results"]) {
      EXPECT_EQ(result["error"]["passed"], true);
      EXPECT_EQ(result["error"]["compared_powers"], 3);
    }
  }
}

TEST_F(Mpk, SweepsGiveAResultPerCombination) {
  const json document = json_of(quick({"mpk", "stencil5:60x60", "-p", "2:3,5", "--cache-size",
                                       "32k:64k", "--strategy", "wavefront"}));
  std::set<std::pair<int, int>> combinations;
  for (const json& result : document["results"]) {
    if (result["asked"] == "wavefront") {
      combinations.emplace(result["power"], result["parameters"]["cache_bytes"]);
    }
  }
  std::set<std::pair<int, int>> expected;
  for (const int power : {2, 3, 5}) {
    for (const int bytes : {32 << 10, 64 << 10}) expected.emplace(power, bytes);
  }
  EXPECT_EQ(combinations, expected);
}

TEST_F(Mpk, TracesSayWhichThreadDidWhichTaskWhen) {
  const json document = json_of(quick({"mpk", "stencil27:12x12x40,coefficients=random", "-p", "3",
                                       "--strategy", "wavefront", "--trace", "--threads", "2"}));
  ASSERT_GE(document["results"].size(), 2U);
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["error"]["passed"], true);
    ASSERT_FALSE(result["trace"].empty());
    std::set<std::pair<int, int>> done;
    double before = 0;
    for (const json& task : result["trace"]) {
      EXPECT_LE(before, task["start"]);
      EXPECT_LE(task["start"], task["end"]);
      EXPECT_TRUE(task["thread"] == 0 || task["thread"] == 1);
      before = task["start"];
      for (int level = task["level"]; level < task["level"].get<int>() + task["levels"].get<int>();
           ++level) {
        done.emplace(level, task["power"]);
      }
    }
    const int levels = std::prev(done.end())->first + 1;
    EXPECT_EQ(levels == 1, result["strategy"] == "spmv");
    EXPECT_EQ(done.size(), 3U * static_cast<std::size_t>(levels));
  }
}

TEST_F(Mpk, WithoutBeingAskedNothingIsTraced) {
  const json document = json_of(quick({"mpk", "stencil5:30x30", "-p", "2"}));
  for (const json& result : document["results"]) EXPECT_FALSE(result.contains("trace"));
}

TEST_F(Mpk, OverflowIsReportedAndFinitePowersAreStillCompared) {
  write_file(file("huge.mtx"),
             "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1e100\n2 2 1\n2 3 1\n3 3 "
             "1\n");
  const json document = json_of(quick({"mpk", file("huge.mtx"), "-p", "5"}));
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["overflow"]["power"], 4);
    EXPECT_EQ(result["overflow"]["element"], 0);
    EXPECT_EQ(result["error"]["passed"], true);
    EXPECT_EQ(result["error"]["compared_powers"], 3);
  }
  const Outcome outcome = run(quick({"mpk", file("huge.mtx"), "-p", "5"}));
  EXPECT_EQ(outcome.status, 0);
  for (const char* part : {"Power 4 is not finite from element 0 on", "elements were not judged"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST_F(Mpk, RowsAreCheckedBesideThoseThatOverflow) {
  write_file(file("huge.mtx"),
             "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1e100\n2 2 1\n2 3 1\n3 3 "
             "1\n");
  const json document = json_of(quick({"mpk", file("huge.mtx"), "-p", "5"}));
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["error"]["elements"], 15);
    EXPECT_EQ(result["error"]["judged"], 13) << "all but row 0 of powers 4 and 5";
  }
}

TEST_F(Mpk, WhatCannotBeJudgedIsStatus1) {
  write_file(file("infinite.mtx"),
             "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 inf\n");
  const Words words = quick({"mpk", file("infinite.mtx"), "-p", "2", "--strategy", "spmv"});
  const Outcome outcome = run(words);
  expect_one_line_error(outcome, 1, "plain products: none of 2 elements can be judged");
  EXPECT_NE(outcome.out.find("NOT CHECKED"), std::string::npos) << outcome.out;
  Words unchecked = words;
  unchecked.emplace_back("--no-validate");
  EXPECT_EQ(run(unchecked).status, 0);
}

TEST_F(Mpk, NothingIsValidatedOnRequest) {
  const json document = json_of(quick({"mpk", "stencil5:20x20", "-p", "2", "--no-validate"}));
  EXPECT_FALSE(document["results"][0].contains("error"));
}

TEST_F(Mpk, EmptyAndTinyMatricesHavePowers) {
  write_file(file("zero.mtx"), "%%MatrixMarket matrix coordinate real general\n4 4 0\n");
  write_file(file("one.mtx"), "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  for (const char* name : {"zero.mtx", "one.mtx"}) {
    const json document = json_of(quick({"mpk", file(name), "-p", "3"}));
    EXPECT_EQ(document["results"][0]["error"]["passed"], true) << name;
  }
}

TEST_F(Mpk, TextEndsInAConclusion) {
  const Outcome outcome = run(quick({"mpk", "stencil27:12x12x40", "-p", "3"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const char* part :
       {"stencil27:12x12x40: 5 760 rows", "GB/s from memory", "strategy", "speed-up", "pred./meas.",
        "plain products", "once per power", "All results agree with reference products"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST_F(Mpk, WrongUsageIsStatus2) {
  expect_failure({"mpk", "stencil5:9x9", "-p", "0"}, 2, "power 0 is outside");
  expect_failure({"mpk", "stencil5:9x9", "-p", "3:1"}, 2, "'3:1' ends before it begins");
  expect_failure({"mpk", "stencil5:9x9", "-p", "two"}, 2, "'two' is not a power");
  expect_failure({"mpk", "stencil5:9x9", "--cache-size", "1X"}, 2, "--cache-size");
  expect_failure({"mpk", "stencil5:9x9", "--basis", "legendre"}, 2, "legendre");
  expect_failure({"mpk", "stencil5:9x9", "--basis", "newton=1,2", "-p", "3"}, 2, "shifts");
  expect_failure({"mpk", "stencil5:9x9", "--vectors", "9"}, 2, "--vectors");
  expect_failure({"mpk", "stencil5:9x9", "--trace"}, 2, "add --json FILE");
}

TEST_F(Mpk, MatricesThatAreNotSquareHaveNoPowers) {
  write_file(file("wide.mtx"), "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 1\n");
  expect_failure(quick({"mpk", file("wide.mtx")}), 2, "1 x 2 matrix has no powers");
}

TEST_F(Mpk, AGpuThatIsNotAvailableIsStatus4AndSaysWhatMachineSays) {
  expect_missing_gpus_to_be_status_4(quick({"mpk", "stencil5:9x9"}), {"", "cpu,", "cpu,vendor,"});
}

TEST_F(Mpk, TheVendorIsThatOfTheGpu) {
  for (const char* backend : {"cuda", "hip"}) {
    if (run({"machine", "--backend", backend}).status == 0) GTEST_SKIP() << "there is a GPU";
  }
  expect_failure(quick({"mpk", "stencil5:9x9", "--backend", "vendor"}), 4, "GPU");
  expect_failure(quick({"mpk", "stencil5:9x9", "--backend", "cpu,vendor"}), 4, "GPU");
}

TEST_F(Mpk, AllIsAtLeastTheProcessor) {
  const json document = json_of(quick({"mpk", "stencil5:30x20", "-p", "2", "--backend", "all"}));
  int on_processor = 0;
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["error"]["passed"], true) << result;
    // What runs on a processor has threads, what runs on a GPU its number.
    EXPECT_NE(result.contains("threads"), result.contains("device")) << result;
    on_processor += result["backend"] == "cpu" ? 1 : 0;
  }
  EXPECT_GE(on_processor, 2);
}

TEST_F(Mpk, WhatIsNotAvailableOrDoesNotExistFails) {
  expect_failure({"mpk", "stencil5:9x9", "--strategy", "graph"}, 4, "graph is not available");
  expect_failure({"mpk", "stencil5:9x9", "--backend", "fpga"}, 2, "fpga");
  expect_failure({"mpk", "stencil5:9x9", "--device", "-1"}, 2, "--device");
  expect_failure({"mpk", "stencil5:9x9", "--slice-height", "7"}, 2, "--slice-height");
  expect_failure({"mpk", "stencil5:9x9", "--values", "many"}, 2, "--values");
  expect_failure({"mpk", "stencil5:9x9", "--values", "few", "--format", "csr"}, 2, "packed-sell");
}

}  // namespace
}  // namespace strata::test
