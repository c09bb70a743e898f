// strata tune: what is searched, what is remembered.

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
