// strata explain: what a plan says about itself.

#include "tests/cli/benchmark.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class Explain : public BenchmarkTest {};

TEST_F(Explain, ShowsTheChoiceAndEveryCandidate) {
  const json document = json_of({"explain", "stencil27:12x12x40", "-p", "4"});
  int chosen = 0;
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["kernel"], "explain");
    EXPECT_GT(result["predicted"]["gflops"], 0);
    EXPECT_GE(result["bytes"]["from_memory"], 0);
    chosen += result["chosen"].get<bool>() ? 1 : 0;
  }
  EXPECT_EQ(chosen, 1);
  EXPECT_EQ(document["results"][0]["chosen"], true);
  const Outcome outcome = run({"explain", "stencil27:12x12x40", "-p", "4"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Chosen: "), std::string::npos) << outcome.out;
}

TEST_F(Explain, SweepsExplainEveryPower) {
  const Outcome outcome = run({"explain", "stencil5:30x30", "-p", "1,3"});
  EXPECT_NE(outcome.out.find("1 powers"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("3 powers"), std::string::npos) << outcome.out;
}

TEST_F(Explain, TheBestPowerIsDrawnAmongAllOthers) {
  const Words words{"explain", "band:20000,width=9,coefficients=random", "-p", "best", "--products",
                    "30"};
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"GF/s over p", "<- chosen", "is the best of 1", "for 30 products"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
  int found = 0;
  const json document = json_of(words);
  for (const json& result : document["results"]) {
    if (result["kernel"] != "best-power") continue;
    ++found;
    EXPECT_EQ(result["products"], 30);
    EXPECT_EQ(result["power"], document["results"][0]["power"]) << "the plan's candidates are of p";
    EXPECT_NE(result["reason"].get<std::string>().find("30 products"), std::string::npos);
    ASSERT_FALSE(result["speeds"].empty());
    bool has_chosen = false;
    int before = 0;
    for (const json& speed : result["speeds"]) {
      EXPECT_GT(speed["power"], before);
      before = speed["power"];
      EXPECT_GT(speed["predicted"]["gflops"], 0);
      EXPECT_EQ(speed.contains("gflops"), speed.contains("measured_seconds"));
      has_chosen = has_chosen || speed["power"] == result["power"];
    }
    EXPECT_TRUE(has_chosen);
    EXPECT_LE(before, 12);
  }
  EXPECT_EQ(found, 1);
}

TEST_F(Explain, ThePowerIsChosenForAHundredProductsWhenNotGiven) {
  const Outcome outcome = run({"explain", "stencil5:30x30", "-p", "best"});
  EXPECT_NE(outcome.out.find("for 100 products"), std::string::npos) << outcome.out;
}

TEST_F(Explain, WhatCannotBeExplainedFails) {
  write_file(file("wide.mtx"), "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 1\n");
  expect_failure({"explain", file("wide.mtx")}, 2, "1 x 2 matrix has no powers");
  expect_failure({"explain", "stencil5:9x9", "--backend", "vendor"}, 4, "vendor");
  expect_failure({"explain", "stencil5:9x9", "--backend", "fpga"}, 2, "fpga");
  expect_failure({"explain", "stencil5:9x9", "--strategy", "all"}, 2, "--strategy");
  expect_failure({"explain", "stencil5:9x9", "--products", "9"}, 2, "--products is for -p best");
}

TEST_F(Explain, AGpuThatIsNotAvailableIsStatus4AndSaysWhatMachineSays) {
  expect_missing_gpus_to_be_status_4({"explain", "stencil5:9x9"}, {"", "cpu,"});
}

TEST_F(Explain, AllIsAtLeastTheProcessor) {
  const json results = json_of({"explain", "stencil5:30x20", "--backend", "all"})["results"];
  EXPECT_EQ(results[0]["backend"], "cpu");
}

TEST_F(Explain, SolversCostWhatTheModelSays) {
  const Outcome outcome = run({"explain", "stencil27:10x10x20", "-p", "2,4", "--method",
                               "cg,ca-cg,gmres,ca-gmres,chebyshev", "--quiet"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"Solvers on cpu, by the model", "per iteration", "ca-gmres"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part;
  }
  const nlohmann::json document = json_of(
      {"explain", "stencil27:10x10x20", "-p", "2,4", "--method", "cg,ca-cg,gmres,ca-gmres"});
  int predicted = 0;
  for (const auto& result : document["results"]) {
    if (result["kernel"] != "solve") continue;
    ++predicted;
    const auto& cost = result["predicted"];
    EXPECT_GT(cost["products_seconds"], 0);
    EXPECT_NEAR(cost["seconds_per_iteration"].get<double>(),
                cost["products_seconds"].get<double>() + cost["vectors_seconds"].get<double>(),
                1e-12);
  }
  EXPECT_EQ(predicted, 6);  // two methods once, and two for each power
  expect_failure({"explain", "stencil5:4x4", "-p", "2", "--method", "sor"}, 2,
                 "'sor' is no method");
}

}  // namespace
}  // namespace strata::test
