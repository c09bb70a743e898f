// strata eig: eigenvalues that are known, densities that add up, ranks, and what it refuses.

#include <signal.h>

#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <thread>

#include "tests/cli/command.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class Eig : public CommandTest {};

// λ = 4 + 2 cos(iπ/(nx + 1)) + 2 cos(jπ/(ny + 1)), the largest ones.
double laplacian_eigenvalue(int i, int nx, int j, int ny) {
  return 4 + 2 * std::cos(i * std::numbers::pi / (nx + 1)) +
         2 * std::cos(j * std::numbers::pi / (ny + 1));
}

TEST_F(Eig, ExtremeEigenvaluesAreTheAnalyticOnes) {
  for (const std::string method : {"lanczos", "ca-lanczos"}) {
    const json document = json_of({"eig", "stencil5:30x20", "--method", method, "-k", "3", "--tol",
                                   "1e-10", "-s", "6", "--threads", "2"});
    const json& result = document["results"].at(0);
    EXPECT_EQ(result["kernel"], "eig");
    EXPECT_EQ(result["method"], method);
    EXPECT_EQ(result["status"], "converged");
    ASSERT_EQ(result["values"].size(), 3u);
    EXPECT_NEAR(result["values"][0], laplacian_eigenvalue(1, 30, 1, 20), 1e-9);
    EXPECT_NEAR(result["values"][1], laplacian_eigenvalue(2, 30, 1, 20), 1e-9);
    for (const json& residual : result["residuals"]) EXPECT_LE(residual.get<double>(), 1e-10);
    EXPECT_EQ(result["history"].size(), result["iterations"].get<std::size_t>());
    EXPECT_GT(result["seconds"]["total"], 0);
    EXPECT_GT(result["products"], 10);
  }
  const json both = json_of({"eig", "stencil5:30x20", "--which", "both", "-k", "4"});
  const json& values = both["results"].at(0)["values"];
  EXPECT_LT(values[0], values[1]);
  EXPECT_NEAR(values[0].get<double>() + values[3].get<double>(), 8, 1e-6);
}

TEST_F(Eig, TheTableNamesTheMethodAndHowItEnded) {
  const Outcome outcome = run({"eig", "topi:4x4x4", "-k", "2", "--quiet"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("eigenvalue"), std::string::npos);
  EXPECT_NE(outcome.out.find("converged"), std::string::npos);
}

TEST_F(Eig, InteriorEigenvaluesOfAnIntervalAndNearATarget) {
  const json document = json_of(
      {"eig", "stencil5:30x20", "--method", "filter", "--interval", "3.02,3.2", "--tol", "1e-9"});
  const json& result = document["results"].at(0);
  std::vector<double> expected;
  for (int i = 1; i <= 30; ++i) {
    for (int j = 1; j <= 20; ++j) {
      const double value = laplacian_eigenvalue(i, 30, j, 20);
      if (value >= 3.02 && value <= 3.2) expected.push_back(value);
    }
  }
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(result["values"].size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(result["values"][k], expected[k], 1e-8);
  }
  const json near =
      json_of({"eig", "stencil5:30x20", "--method", "filter", "--target", "3.1", "-k", "4"});
  EXPECT_EQ(near["results"].at(0)["values"].size(), 4u);
  for (const json& value : near["results"].at(0)["values"]) EXPECT_NEAR(value, 3.1, 0.2);
}

TEST_F(Eig, TheDensityIsDrawnAndAddsUp) {
  const json document = json_of({"eig", "anderson:8x8x8", "--method", "kpm", "--moments", "128"});
  const json& result = document["results"].at(0);
  const auto density = result["density"].get<std::vector<double>>();
  const double width = (result["high"].get<double>() - result["low"].get<double>()) /
                       static_cast<double>(density.size());
  EXPECT_NEAR(std::accumulate(density.begin(), density.end(), 0.0) * width, 1, 0.01);
  EXPECT_EQ(result["energies"].size(), density.size());
  EXPECT_EQ(result["moments"].size(), 128u);
  const json again = json_of({"eig", "anderson:8x8x8", "--method", "kpm", "--moments", "128"});
  EXPECT_EQ(again["results"].at(0)["vectors"], 32);
  const Outcome outcome = run({"eig", "anderson:8x8x8", "--method", "kpm", "--moments", "64"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("█"), std::string::npos) << outcome.out;
}

TEST_F(Eig, PageRankListsTheFirstNodes) {
  write_file(file("graph.mtx"),
             "%%MatrixMarket matrix coordinate pattern general\n4 4 4\n1 3\n2 3\n3 1\n4 3\n");
  const json document = json_of({"eig", file("graph.mtx"), "--method", "pagerank", "-k", "2"});
  const json& result = document["results"].at(0);
  ASSERT_EQ(result["ranks"].size(), 2u);
  EXPECT_EQ(result["ranks"][0]["row"], 3);
  EXPECT_EQ(result["ranks"][1]["row"], 1);
  EXPECT_EQ(result["dangling"], 0);
  EXPECT_LE(result["change"].get<double>(), 1e-8);
}

TEST_F(Eig, PowerIterationTakesAnyMatrix) {
  const json document = json_of({"eig", "random:100,nnzr=20,seed=2", "--method", "power", "--tol",
                                 "1e-3", "--precision", "double"});
  EXPECT_EQ(document["results"].at(0)["values"].size(), 1u);
}

TEST_F(Eig, BarePowersAreTimedBesideSweeps) {
  for (const std::string method : {"ca-lanczos", "filter", "kpm"}) {
    SCOPED_TRACE(method);
    std::vector<std::string> words{"eig", "stencil5:30x20", "--method", method, "--moments", "32"};
    if (method == "filter") words.insert(words.end(), {"--target", "3.1", "-k", "2"});
    const json plain = json_of(words)["results"].at(0);
    EXPECT_EQ(plain["backend"], "cpu");
    EXPECT_FALSE(plain["variant"].get<std::string>().empty());
    EXPECT_GT(plain["seconds"]["product"], 0);
    EXPECT_FALSE(plain["seconds"].contains("bare_product"));
    words.push_back("--bare");
    const json timed = json_of(words)["results"].at(0);
    EXPECT_GT(timed["seconds"]["product"], 0);
    EXPECT_GT(timed["seconds"]["bare_product"], 0);
  }
  const Outcome outcome =
      run({"eig", "stencil5:30x20", "--method", "ca-lanczos", "--backend", "cpu", "--bare"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("bare"), std::string::npos) << outcome.out;
  for (const std::string method : {"lanczos", "power", "pagerank"}) {
    expect_failure({"eig", "stencil5:4x4", "--method", method, "--bare"}, 2, "--bare");
  }
}

TEST_F(Eig, BackendsThatAreNotThereAreRefused) {
  expect_failure({"eig", "stencil5:4x4", "--backend", "abacus"}, 2, "abacus");
  expect_failure({"eig", "stencil5:4x4", "--backend", "vendor"}, 2, "vendor");
  // There is at most one of these here.
  expect_failure({"eig", "stencil5:4x4", "--backend", "cuda,hip"}, 4, "GPU");
  for (const std::string backend : {"cuda", "hip"}) {
    expect_failure({"eig", "stencil5:4x4", "--method", "pagerank", "--backend", backend}, 4, "GPU");
  }
}

TEST_F(Eig, WhatCannotBeIsRefused) {
  expect_failure({"eig", "random:50,nnzr=4"}, 2, "symmetric matrix");
  expect_failure({"eig", "random:50,nnzr=4", "--method", "kpm"}, 2, "symmetric matrix");
  expect_failure({"eig", "stencil5:4x4", "-k", "17"}, 2, "17 eigenvalues of a matrix that has 16");
  expect_failure({"eig", "stencil5:4x4", "--method", "filter"}, 2, "interval or a target");
  expect_failure({"eig", "stencil5:4x4", "--method", "filter", "--interval", "3,1"}, 2,
                 "no interval");
  expect_failure({"eig", "stencil5:4x4", "--method", "filter", "--interval", "3"}, 2, "LOW,HIGH");
  expect_failure({"eig", "stencil5:4x4", "--method", "filter", "--target", "x"}, 2, "no number");
  expect_failure({"eig", "stencil5:4x4", "--method", "frob"}, 2, "--method");
  expect_failure({"eig", "missing.mtx"}, 3, "missing.mtx");
  write_file(file("wide.mtx"), "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
  expect_failure({"eig", file("wide.mtx")}, 2, "square");
  write_file(file("nan.mtx"), "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 nan\n");
  const Outcome outcome = run({"eig", file("nan.mtx"), "-k", "1"});
  EXPECT_TRUE(outcome.status == 2 || outcome.status == 3) << outcome.err;
  // Not without its best values.
  const Outcome best = run({"eig", "stencil5:60x60", "--tol", "1e-12", "--max-products", "50",
                            "--json", file("best.json")});
  expect_one_line_error(best, 1, "lanczos did not converge");
  const json document = json::parse(contents_of(file("best.json")));
  EXPECT_EQ(document["results"].at(0)["status"], "most-iterations");
  EXPECT_EQ(document["results"].at(0)["values"].size(), 6u);
}

TEST_F(Eig, InterruptedItLeavesTheBestSoFar) {
  json document;
  // Until it was late enough for the method to have begun.
  for (const int seconds : {2, 8, 30}) {
    const pid_t process =
        start({"eig", "stencil5:500x500", "--which", "smallest", "-k", "4", "--tol", "1e-13",
               "--max-products", "10000000", "--json", file("r.json")});
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    kill(process, SIGINT);
    expect_one_line_error(wait_for(process), 5, "interrupted: ");
    document = json::parse(contents_of(file("r.json")));
    EXPECT_EQ(document["interrupted"], true);
    if (!document["results"].empty()) break;
  }
  ASSERT_EQ(document["results"].size(), 1u);
  EXPECT_EQ(document["results"][0]["status"], "stopped");
  EXPECT_EQ(document["results"][0]["values"].size(), 4u);
}

}  // namespace
}  // namespace strata::test
