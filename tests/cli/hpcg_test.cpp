// strata hpcg: the HPCG benchmark.

#include "tests/cli/benchmark.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class Hpcg : public BenchmarkTest {};

TEST_F(Hpcg, JsonHasChecksRatingAndParts) {
  const json document = json_of({"hpcg", "16x16x16", "--time", "0", "--threads", "2"});
  EXPECT_EQ(document["matrix"]["rows"], 4096);
  EXPECT_EQ(document["matrix"]["nnz"], 46 * 46 * 46);
  ASSERT_EQ(document["results"].size(), 1U);
  const json& result = document["results"][0];
  EXPECT_EQ(result["kernel"], "hpcg");
  EXPECT_EQ(result["backend"], "cpu");
  EXPECT_EQ(result["threads"], 2);
  EXPECT_EQ(result["levels"].size(), 4U);
  EXPECT_EQ(result["levels"][3]["grid"], "2x2x2");
  EXPECT_EQ(result["checks"].size(), 6U);
  for (const json& check : result["checks"]) EXPECT_EQ(check["passed"], true) << check["name"];
  EXPECT_EQ(result["passed"], true);
  EXPECT_EQ(result["sets"], 2);
  EXPECT_GT(result["gflops"]["rating"], 0);
  EXPECT_LE(result["gflops"]["rating"], result["gflops"]["converged"]);
  EXPECT_LE(result["residual"], result["reference"]["residual"]);
  double predicted = 0;
  for (const json& part : result["parts"]) predicted += part["predicted_seconds"].get<double>();
  EXPECT_NEAR(result["predicted"]["seconds"].get<double>(), predicted, 1e-9);
}

TEST_F(Hpcg, SaysHowRowsAreOrderedAndWhatIsNotAsInHpcg) {
  const Outcome outcome = run({"hpcg", "12x10x9", "--time", "0", "--values", "all"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("by 8 colours"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("1 instead of 4"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("which HPCG does not allow"), std::string::npos);
  EXPECT_NE(outcome.out.find("16 points or more"), std::string::npos);
  EXPECT_NE(outcome.out.find("an iteration"), std::string::npos);
}

TEST_F(Hpcg, GpusThatAreMissingAreStatus4) {
  expect_missing_gpus_to_be_status_4({"hpcg", "16x16x16"}, {""});
}

TEST_F(Hpcg, RefusesGridsThatAreNone) {
  expect_failure({"hpcg", "16x16"}, 2, "2 of 3 dimensions");
  expect_failure({"hpcg", "16x16x1"}, 2, "at least 2");
  expect_failure({"hpcg", "16x16x0"}, 2, "size");
  expect_failure({"hpcg", "16x16x16,seed=1"}, 2, "seed");
  expect_failure({"hpcg", "100000x100000x100000"}, 3, "rows");
  expect_failure({"hpcg", "16x16x16", "--backend", "tpu"}, 2, "tpu");
  expect_failure({"hpcg", "16x16x16", "--values", "some"}, 2, "values");
}

}  // namespace
}  // namespace strata::test
