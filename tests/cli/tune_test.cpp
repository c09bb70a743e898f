// strata tune: what is searched, what is remembered.

#include <algorithm>
#include <vector>

#include "tests/cli/benchmark.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

// Without measuring register blocks, which takes seconds, and therefore without remembering.
class Tune : public BenchmarkTest {
 protected:
  Tune() { setenv("STRATA_PROFILE", "read", 1); }
  ~Tune() override { unsetenv("STRATA_PROFILE"); }
};

TEST_F(Tune, TimesTheBestAndPutsTheFastestFirst) {
  const json document = json_of(quick({"tune", "stencil27:10x10x30", "--timed", "3"}));
  int timed = 0;
  double before = 0;
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["kernel"], "tune");
    if (!result.contains("seconds")) continue;
    EXPECT_GE(result["seconds"]["median"], before) << result;
    EXPECT_TRUE(result.contains("break_even_products"));
    EXPECT_GT(result["gflops"], 0);
    before = result["seconds"]["median"];
    ++timed;
  }
  EXPECT_EQ(timed, 4);
}

TEST_F(Tune, ShowsTheTablesOfRegisterBlocks) {
  const Outcome outcome = run(quick({"tune", "stencil5:30x30", "--registers"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"fill", "GF/s", "Fastest: "}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST_F(Tune, RegisterBlocksAreAResultOfTheirOwn) {
  const json document =
      json_of(quick({"tune", "stencil27:6x6x12,dof=3", "--registers", "--timed", "1"}));
  const json& registers = document["results"][0];
  EXPECT_EQ(registers["kernel"], "registers");
  EXPECT_EQ(registers["backend"], "cpu");
  EXPECT_EQ(registers["precision"], "double");
  const std::vector<int> sizes{1, 2, 3, 4, 6, 8};
  EXPECT_EQ(registers["rows"], sizes);
  EXPECT_EQ(registers["cols"], sizes);
  double best = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::size_t j = 0; j < sizes.size(); ++j) {
      const double dense = registers["dense_gflops"][i][j];
      const double fill = registers["fill"][i][j];
      EXPECT_NEAR(registers["predicted_gflops"][i][j], dense / fill, 1e-9 * dense);
      best = std::max(best, dense / fill);
    }
  }
  // Dense blocks of 3 x 3 are what the matrix consists of.
  EXPECT_EQ(registers["fill"][0][0], 1);
  EXPECT_EQ(registers["fill"][2][2], 1);
  EXPECT_GT(registers["fill"][1][1], 1.1);
  EXPECT_EQ(registers["parameters"], json({{"block_rows", 3}, {"block_cols", 3}}));
  EXPECT_NEAR(registers["predicted_gflops"][2][2], best, 1e-9 * best);
  for (std::size_t i = 1; i < document["results"].size(); ++i) {
    EXPECT_EQ(document["results"][i]["kernel"], "tune");
  }
}

TEST_F(Tune, RemembersTheFastestUntilItIsAskedAgain) {
  setenv("STRATA_PROFILE", "on", 1);
  const Words words = quick({"tune", "stencil5:30x30", "--timed", "1"});
  const auto expect = [&](const Words& all, const std::string& part) {
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find(part), std::string::npos) << outcome.out;
  };
  expect(words, "Remembered for this matrix and machine");
  expect(words, "Known since");
  Words again = words;
  again.push_back("--again");
  expect(again, "Fastest: ");
}

TEST_F(Tune, WrongUsageIsStatus2) {
  expect_failure({"tune"}, 2, "--help");
  expect_failure({"tune", "stencil5:9x9", "--timed", "0"}, 2, "--timed");
  expect_failure({"tune", "stencil5:9x9", "--backend", "vendor"}, 2, "vendor");
}

TEST_F(Tune, MissingGpusAreStatus4) {
  expect_missing_gpus_to_be_status_4({"tune", "stencil5:9x9"}, {"", "cpu,"});
}

}  // namespace
}  // namespace strata::test
