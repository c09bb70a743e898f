// strata fem: the finite element study.

#include <set>

#include "tests/cli/benchmark.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class FemCommand : public BenchmarkTest {};

TEST_F(FemCommand, JsonHasARowForEveryDegreeAndMatrix) {
  const json document = json_of({"fem", "24x18", "--iterations", "10", "--threads", "2"});
  ASSERT_EQ(document["results"].size(), 4U * 5);
  std::set<std::pair<int, std::string>> seen;
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["kernel"], "fem");
    EXPECT_EQ(result["backend"], "cpu");
    EXPECT_EQ(result["threads"], 2);
    EXPECT_EQ(result["iterations"], 10);
    EXPECT_EQ(result["passed"], true);
    EXPECT_GT(result["iterations_per_second"], 0);
    EXPECT_GT(result["bytes"]["matrix"], 0);
    const int degree = result["degree"];
    seen.insert({degree, result["matrix"]});
    EXPECT_NEAR(result["convergence"]["order"].get<double>(), degree + 1, 0.4);
    EXPECT_NEAR(result["residual"].get<double>(), result["reference_residual"].get<double>(),
                1e-12);
    // 24 and 18 divide by 1, 2 and 3; of degree 4 there are 6 x 5.
    EXPECT_EQ(result["unknowns"], degree == 4 ? 23 * 19 : 23 * 17);
  }
  EXPECT_EQ(seen.size(), 20U);
}

TEST_F(FemCommand, KeepsElementsWhereAsked) {
  const json document = json_of({"fem", "5x4", "--degree", "3", "--matrix", "lma,csr", "--same",
                                 "elements", "--iterations", "3"});
  ASSERT_EQ(document["results"].size(), 2U);
  EXPECT_EQ(document["results"][0]["matrix"], "lma");
  EXPECT_EQ(document["results"][1]["elements"], (json{5, 4}));
  EXPECT_EQ(document["results"][1]["unknowns"], 14 * 11);
}

TEST_F(FemCommand, PrintsATable) {
  const Outcome outcome = run({"fem", "20x20", "--degree", "2", "--iterations", "5"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"iterations/s", "lma-symmetric", "order", "packed-sell"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part;
  }
}

TEST_F(FemCommand, GpusThatAreMissingAreStatus4) {
  expect_missing_gpus_to_be_status_4({"fem", "9x9"}, {"", "cpu,"});
}

TEST_F(FemCommand, RefusesWhatItDoesNotHave) {
  expect_failure({"fem", "20x20", "--degree", "5"}, 2, "no degree");
  expect_failure({"fem", "20x20", "--degree", "1,x"}, 2, "no degree");
  expect_failure({"fem", "20x20", "--matrix", "dia"}, 2, "there are: csr ell");
  expect_failure({"fem", "20"}, 2, "dimensions");
  expect_failure({"fem", "1x9", "--degree", "1"}, 2, "no node inside");
  expect_failure({"fem", "20x20,seed=3"}, 2, "seed");
  expect_failure({"fem", "100000x100000"}, 3, "unknowns");
  expect_failure({"fem", "20x20", "--backend", "tpu"}, 2, "tpu");
  expect_failure({"fem", "20x20", "--iterations", "0"}, 2, "iterations");
}

}  // namespace
}  // namespace strata::test
