#include "strata/report/comparison.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "strata/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace strata::report {
namespace {

using nlohmann::json;

std::vector<double> noisy(double seconds, std::uint64_t seed, int count = 30) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> noise(0.98, 1.03);
  std::vector<double> list(count);
  for (double& value : list) value = seconds * noise(random);
  return list;
}

json result_of(const std::string& variant, const std::vector<double>& samples) {
  std::vector<double> sorted = samples;
  std::ranges::sort(sorted);
  return {{"kernel", "spmv"},
          {"backend", variant.starts_with("Eigen") ? "vendor" : "cpu"},
          {"variant", variant},
          {"threads", 2},
          {"precision", "double"},
          {"seconds", {{"median", sorted[sorted.size() / 2]}, {"samples", samples}}}};
}

// Braces around one result are that result.
json document_of(const json& results) {
  const json list = results.is_array() ? results : json::array({results});
  return {{"strata", "0.1.0"}, {"matrix", {{"name", "stencil5:9x9"}}}, {"results", list}};
}

class Comparing : public test::FolderTest {
 protected:
  std::vector<TimedResult> results_in(const std::string& name, const std::string& text) {
    std::ofstream(file(name)) << text;
    return timed_results({file(name)}, problems_);
  }
  std::vector<TimedResult> results_of(const json& document) {
    return results_in("results.json", document.dump());
  }

  std::vector<std::string> problems_;
};

TEST_F(Comparing, ADeliberateSlowdownIsARegression) {
  const auto before = results_of(document_of({result_of("CSR", noisy(1e-3, 1))}));
  const auto rerun = results_of(document_of({result_of("CSR", noisy(1e-3, 2))}));
  const auto slower = results_of(document_of({result_of("CSR", noisy(1.1e-3, 3))}));
  const auto faster = results_of(document_of({result_of("CSR", noisy(0.9e-3, 4))}));
  EXPECT_EQ(compare(before, rerun).cases.at(0).verdict, Verdict::same);
  const Comparison compared = compare(before, slower);
  EXPECT_EQ(compared.cases.at(0).verdict, Verdict::regressed);
  EXPECT_NEAR(compared.cases.at(0).ratio.middle, 1.1, 0.02);
  EXPECT_NEAR(compared.mean.middle, 1.1, 0.02);
  EXPECT_EQ(compare(before, slower, {.threshold = 0.2}).cases.at(0).verdict, Verdict::slower);
  EXPECT_EQ(compare(before, faster).cases.at(0).verdict, Verdict::faster);
}

TEST_F(Comparing, NumbersOfRanksAreDifferentCases) {
  const auto on_ranks = [](int ranks, double seconds) {
    json result = result_of("rows", noisy(seconds, 5));
    result["ranks"] = ranks;
    return result;
  };
  const auto before = results_of(document_of({on_ranks(2, 1e-3), on_ranks(4, 0.5e-3)}));
  const auto after = results_of(document_of({on_ranks(4, 0.5e-3), on_ranks(2, 1e-3)}));
  ASSERT_EQ(before.size(), 2U);
  EXPECT_NE(before[0].name.find("2 ranks"), std::string::npos) << before[0].name;
  const Comparison compared = compare(before, after);
  ASSERT_EQ(compared.cases.size(), 2U);
  for (const auto& each : compared.cases) EXPECT_EQ(each.verdict, Verdict::same);
}

TEST_F(Comparing, NamesOutliveVersionsAndChoices) {
  const auto before = results_of(document_of(
      {result_of("plan: SELL-32-1", noisy(1e-3, 1)), result_of("Eigen 3.4.0", noisy(1e-3, 2))}));
  const auto after = results_of(document_of({result_of("plan: packed SELL-16", noisy(1e-3, 3)),
                                             result_of("Eigen 3.5.1", noisy(1e-3, 4))}));
  const Comparison compared = compare(before, after);
  EXPECT_EQ(compared.cases.size(), 2U);
  EXPECT_TRUE(compared.only_before.empty());
  EXPECT_TRUE(compared.only_after.empty());
}

TEST_F(Comparing, WhatIsMissingOnOneSideIsNamed) {
  const auto before =
      results_of(document_of({result_of("CSR", noisy(1, 1)), result_of("ELL", noisy(1, 2))}));
  const auto after =
      results_of(document_of({result_of("CSR", noisy(1, 3)), result_of("DIA", noisy(1, 4))}));
  const Comparison compared = compare(before, after);
  ASSERT_EQ(compared.only_before.size(), 1U);
  EXPECT_NE(compared.only_before[0].find("ELL"), std::string::npos);
  ASSERT_EQ(compared.only_after.size(), 1U);
  EXPECT_NE(compared.only_after[0].find("DIA"), std::string::npos);
}

// A machine that is half as fast in one of the runs slows down the other library as well.
TEST_F(Comparing, OverPeersTheSpeedOfTheMachineCancels) {
  const auto runs_at = [&](double speed, std::uint64_t seed) {
    json runs = json::array();
    for (std::uint64_t i = 0; i < 4; ++i) {
      runs.push_back(
          document_of({result_of("CSR", noisy(1e-3 / speed, seed + 2 * i)),
                       result_of("Eigen 3.4.0", noisy(2e-3 / speed, seed + 2 * i + 1))}));
    }
    return results_of({{"commit", "abc"}, {"runs", runs}});
  };
  const auto before = runs_at(1, 1);
  const auto after = runs_at(0.5, 100);
  EXPECT_EQ(compare(before, after).count(Verdict::regressed), 2);
  const Comparison over_peers = compare(before, after, {.over_peers = true});
  EXPECT_EQ(over_peers.count(Verdict::same), 2);
  EXPECT_NEAR(over_peers.mean.middle, 1, 0.02);
}

// Runs of one case that differ by more than the samples within them are what noise is then.
TEST_F(Comparing, SeveralRunsShowTheNoiseBetweenThem) {
  const auto runs = [&](std::vector<double> medians, std::uint64_t seed) {
    json list = json::array();
    for (const double median : medians) {
      list.push_back(document_of({result_of("CSR", noisy(median, seed++))}));
    }
    return results_of({{"runs", list}});
  };
  const auto before = runs({1.0, 1.2, 1.1, 1.0}, 1);
  const auto after = runs({1.2, 1.05, 1.25, 1.1}, 10);
  EXPECT_EQ(compare(before, after).cases.at(0).samples_before, 4);
  EXPECT_EQ(compare(before, after).cases.at(0).verdict, Verdict::same);
}

TEST_F(Comparing, WithoutSamplesOnlyLargeDifferencesCount) {
  const auto of = [&](double seconds) {
    json result = result_of("CSR", {seconds});
    result["seconds"].erase("samples");
    return results_of(document_of({result}));
  };
  EXPECT_EQ(compare(of(1), of(1.08)).cases.at(0).verdict, Verdict::same);
  EXPECT_EQ(compare(of(1), of(1.2)).cases.at(0).verdict, Verdict::regressed);
  EXPECT_FALSE(compare(of(1), of(1.2)).cases.at(0).sampled);
}

TEST_F(Comparing, AResultThatBecameWrongIsARegressionHoweverFast) {
  json wrong = result_of("CSR", noisy(0.5, 1));
  wrong["error"] = {{"passed", false}};
  const auto before = results_of(document_of({result_of("CSR", noisy(1, 2))}));
  const Comparison compared = compare(before, results_of(document_of({wrong})));
  EXPECT_EQ(compared.cases.at(0).verdict, Verdict::regressed);
  EXPECT_TRUE(compared.cases.at(0).wrong);
}

// As strata solve writes it: one time, and so many iterations.
json solve_of(const std::string& method, double seconds, int iterations, double tolerance = 1e-8,
              const json& parameters = json::object()) {
  return {{"kernel", "solve"},
          {"backend", "cpu"},
          {"method", method},
          {"preconditioner", "none"},
          {"parameters", parameters},
          {"variant", "packed SELL-32"},
          {"threads", 2},
          {"precision", "double"},
          {"status", tolerance > 0 ? "converged" : "most-iterations"},
          {"iterations", iterations},
          {"products", iterations + 2},
          {"tolerance", tolerance},
          {"seconds", {{"total", seconds * (iterations + 2)}, {"iteration", seconds}}}};
}

class ComparingSolvers : public Comparing {
 protected:
  Comparison compared(const json& before, const json& after, const CompareOptions& options = {}) {
    return compare(results_of(document_of(before)), results_of(document_of(after)), options);
  }
  static const ComparedCase& named(const Comparison& compared, const std::string& part) {
    for (const ComparedCase& each : compared.cases) {
      if (each.name.find(part) != std::string::npos) return each;
    }
    throw std::runtime_error("no case with " + part);
  }
};

TEST_F(ComparingSolvers, TimesThatAreAloneHaveTheAssumedNoise) {
  const json before = solve_of("cg", 1e-3, 100);
  const Comparison rerun = compared(before, solve_of("cg", 1.03e-3, 100));
  ASSERT_EQ(rerun.cases.size(), 2U) << "per iteration, and to the tolerance";
  EXPECT_EQ(rerun.count(Verdict::same), 2);
  EXPECT_EQ(rerun.other_counts(), 0);
  const Comparison slower = compared(before, solve_of("cg", 1.1e-3, 100));
  EXPECT_EQ(slower.count(Verdict::regressed), 2);
  EXPECT_NEAR(slower.cases[0].ratio.middle, 1.1, 1e-9);
  EXPECT_NEAR(slower.cases[0].ratio.low, 1.1 / (1 + kAssumedNoise), 1e-9);
  EXPECT_DOUBLE_EQ(slower.cases[0].noise, kAssumedNoise);
  EXPECT_FALSE(slower.cases[0].sampled);
  EXPECT_EQ(compared(before, solve_of("cg", 0.9e-3, 100)).count(Verdict::faster), 2);
}

TEST_F(ComparingSolvers, MoreIterationsToTheToleranceAreARegressionOfTheSolveAlone) {
  const Comparison result = compared(solve_of("cg", 1e-3, 100), solve_of("cg", 1e-3, 120));
  const ComparedCase& solve = named(result, "to the tolerance");
  EXPECT_EQ(solve.verdict, Verdict::regressed);
  EXPECT_EQ(solve.counted, "iterations");
  EXPECT_EQ(solve.count_before, 100);
  EXPECT_EQ(solve.count_after, 120);
  EXPECT_TRUE(solve.count_changed());
  EXPECT_EQ(named(result, "per iteration").verdict, Verdict::same);
  EXPECT_EQ(result.other_counts(), 1);
}

// All iterations were asked for: more of them is no loss, but said.
TEST_F(ComparingSolvers, WithoutAToleranceIterationsAloneAreCompared) {
  const Comparison result = compared(solve_of("cg", 1e-3, 100, 0), solve_of("cg", 1e-3, 200, 0));
  ASSERT_EQ(result.cases.size(), 1U);
  EXPECT_EQ(result.cases[0].verdict, Verdict::same);
  EXPECT_EQ(result.cases[0].count_after, 200);
}

TEST_F(ComparingSolvers, ASolveThatDoesNotConvergeAnyMoreIsARegression) {
  json failed = solve_of("cg", 0.5e-3, 1000);
  failed["status"] = "stagnated";
  const Comparison result = compared(solve_of("cg", 1e-3, 100), failed);
  EXPECT_EQ(named(result, "per iteration").verdict, Verdict::regressed);
  EXPECT_TRUE(named(result, "per iteration").wrong);
  ASSERT_EQ(result.only_before.size(), 1U);
  EXPECT_NE(result.only_before[0].find("to the tolerance"), std::string::npos);
}

TEST_F(ComparingSolvers, WhatWasAskedForTellsCasesApartAndWhatWasChosenDoesNot) {
  const auto s_steps = [](int s) {
    return solve_of("ca-cg", 1e-3, 100, 1e-8, {{"powers", s}, {"basis", "newton"}});
  };
  EXPECT_TRUE(compared(s_steps(4), s_steps(8)).cases.empty());
  json jacobi = solve_of("cg", 1e-3, 100);
  jacobi["preconditioner"] = "jacobi";
  EXPECT_TRUE(compared(solve_of("cg", 1e-3, 100), jacobi).cases.empty());
  EXPECT_TRUE(compared(solve_of("cg", 1e-3, 100), solve_of("gmres", 1e-3, 100)).cases.empty());
  EXPECT_EQ(compared(solve_of("cg", 1e-3, 100), solve_of("cg", 1e-3, 100, 1e-6)).cases.size(), 0U);
  json other_plan = solve_of("cg", 1e-3, 100);
  other_plan["variant"] = "CSR";
  EXPECT_EQ(compared(solve_of("cg", 1e-3, 100), other_plan).cases.size(), 2U);
  const auto library = [](const std::string& variant) {
    json result = solve_of("cg", 1e-3, 100, 0);
    result["backend"] = "vendor";
    result["variant"] = variant;
    result["threads"] = variant.starts_with("cuSPARSE") ? 0 : 1;
    return result;
  };
  EXPECT_EQ(compared(library("cuSPARSE 12.6.3 SELL-32"), library("cuSPARSE 12.8.1 CSR alg1"))
                .cases.size(),
            1U);
  EXPECT_TRUE(compared(library("Eigen 3.4.0"), library("PETSc 3.18.5")).cases.empty());
  EXPECT_EQ(compared(library("PETSc 3.18.5 AIJ"), library("PETSc 3.20.1 AIJ")).cases.size(), 1U);
  EXPECT_TRUE(compared(library("PETSc 3.18.5 AIJ"), library("PETSc 3.18.5 SELL")).cases.empty());
}

TEST_F(ComparingSolvers, OverPeersASolveIsComparedWithThatOfTheOtherLibrary) {
  const auto at = [](double speed) {
    json peer = solve_of("cg", 2e-3 / speed, 100);
    peer["backend"] = "vendor";
    peer["variant"] = "Eigen 3.4.0";
    return json::array({solve_of("cg", 1e-3 / speed, 100), peer});
  };
  EXPECT_EQ(compared(at(1), at(0.5)).count(Verdict::regressed), 4);
  const Comparison over_peers = compared(at(1), at(0.5), {.over_peers = true});
  EXPECT_EQ(over_peers.count(Verdict::same), 4);
  EXPECT_NEAR(named(over_peers, "cpu, cg, tolerance 1e-08, 2 threads, per iteration").before, 0.5,
              1e-9);
}

TEST_F(ComparingSolvers, SeveralRunsShowTheirNoise) {
  const auto runs = [&](std::vector<double> seconds) {
    json list = json::array();
    for (const double each : seconds) list.push_back(document_of(solve_of("cg", each, 100, 0)));
    return results_of({{"runs", list}});
  };
  const auto before = runs({1.0, 1.2, 1.1, 1.05});
  const Comparison noisy = compare(before, runs({1.15, 1.02, 1.25, 1.12}));
  EXPECT_TRUE(noisy.cases.at(0).sampled);
  EXPECT_EQ(noisy.cases.at(0).noise, 0);
  EXPECT_EQ(noisy.cases.at(0).verdict, Verdict::same);
  EXPECT_EQ(compare(before, runs({1.5, 1.52, 1.55, 1.53})).cases.at(0).verdict, Verdict::regressed);
  // Of three against three any order is likely enough to be chance.
  const Comparison few = compare(runs({1.0, 1.01, 1.02}), runs({1.2, 1.21, 1.22}));
  EXPECT_FALSE(few.cases.at(0).sampled);
  EXPECT_EQ(few.cases.at(0).verdict, Verdict::regressed);
}

TEST_F(ComparingSolvers, EigenvaluesAndExponentialsAreComparedPerProduct) {
  const auto eig = [](double seconds, int products) {
    return json{{"kernel", "eig"},
                {"backend", "cpu"},
                {"method", "ca-lanczos"},
                {"which", "largest"},
                {"s", 8},
                {"tolerance", 1e-8},
                {"status", "converged"},
                {"products", products},
                {"seconds", {{"total", seconds}}}};
  };
  const Comparison result = compared(eig(1, 100), eig(1.2, 120));
  EXPECT_EQ(named(result, "per product").verdict, Verdict::same);
  EXPECT_EQ(named(result, "to the tolerance").verdict, Verdict::regressed);
  EXPECT_EQ(named(result, "to the tolerance").counted, "products");
  const auto expm = [](double seconds, double time) {
    return json{{"kernel", "expm"},
                {"backend", "cpu"},
                {"method", "chebyshev"},
                {"time", time},
                {"phi", 0},
                {"imaginary", false},
                {"tolerance", 1e-12},
                {"degree", 40},
                {"products", 50},
                {"status", "converged"},
                {"seconds", {{"total", seconds}}}};
  };
  EXPECT_EQ(compared(expm(1, -10), expm(1.1, -10)).count(Verdict::regressed), 2);
  EXPECT_TRUE(compared(expm(1, -10), expm(1, -20)).cases.empty());
}

TEST_F(ComparingSolvers, ElementsAreComparedPerIterationByMatrixAndDegree) {
  const auto fem = [](const std::string& matrix, int degree, double seconds) {
    return json{
        {"kernel", "fem"},
        {"backend", "cpu"},
        {"parameters", {{"degree", degree}}},
        {"degree", degree},
        {"matrix", matrix},
        {"elements", {40, 40}},
        {"iterations", 100},
        {"passed", true},
        {"seconds", {{"median", seconds}, {"samples", {seconds, 0.99 * seconds, 1.01 * seconds}}}}};
  };
  const Comparison slower = compared(fem("csr", 2, 1), fem("csr", 2, 1.1));
  EXPECT_EQ(slower.cases.at(0).verdict, Verdict::regressed);
  EXPECT_NEAR(slower.cases.at(0).before, 0.01, 1e-12) << "of one iteration";
  EXPECT_EQ(compared(fem("csr", 2, 1), fem("csr", 2, 1.02)).cases.at(0).verdict, Verdict::same);
  EXPECT_TRUE(compared(fem("csr", 2, 1), fem("lma", 2, 1)).cases.empty());
  EXPECT_TRUE(compared(fem("csr", 2, 1), fem("csr", 3, 1)).cases.empty());
  json older = fem("csr", 2, 1);
  older["seconds"] = {{"total", 1.2}};
  older["iterations_per_second"] = 100;
  EXPECT_NEAR(compared(older, fem("csr", 2, 1)).cases.at(0).ratio.middle, 1, 1e-9);
}

TEST_F(ComparingSolvers, HpcgIsComparedByItsSets) {
  const auto hpcg = [](double seconds, bool passed) {
    return json{
        {"kernel", "hpcg"}, {"backend", "cuda"},
        {"values", "full"}, {"iterations", 51},
        {"passed", passed}, {"seconds", {{"median", seconds}, {"samples", noisy(seconds, 1, 20)}}}};
  };
  EXPECT_EQ(compared(hpcg(1, true), hpcg(1, true)).cases.at(0).verdict, Verdict::same);
  const Comparison slower = compared(hpcg(1, true), hpcg(1.1, true));
  EXPECT_EQ(slower.cases.at(0).verdict, Verdict::regressed);
  EXPECT_TRUE(slower.cases.at(0).sampled);
  EXPECT_TRUE(compared(hpcg(1, true), hpcg(0.5, false)).cases.at(0).wrong);
  json older = hpcg(1, true);
  older["sets"] = 10;
  older["seconds"] = {{"sets", 10.0}};
  EXPECT_NEAR(compared(older, hpcg(1.5, true)).cases.at(0).before, 1, 1e-12);
}

TEST_F(Comparing, LinesOfCampaignsAreReadAndTornOnesNamed) {
  const json document = document_of({result_of("CSR", noisy(1, 1))});
  const json line{{"strata_results", 1},
                  {"campaign", "c"},
                  {"case", "spmv stencil5:9x9"},
                  {"host", "here"},
                  {"matrix", "stencil5:9x9"},
                  {"words", {"spmv", "stencil5:9x9"}},
                  {"settings", json::object()},
                  {"status", "done"},
                  {"exit", 0},
                  {"started", "2026-01-01T00:00:00Z"},
                  {"seconds", 1.0},
                  {"document", document}};
  const auto results =
      results_in("c.jsonl", line.dump() + "\n" + line.dump() + "\n" + line.dump().substr(0, 80));
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].runs.size(), 2U);
  ASSERT_EQ(problems_.size(), 1U);
  EXPECT_NE(problems_[0].find("c.jsonl:3"), std::string::npos) << problems_[0];
}

TEST_F(Comparing, TimesThatAreNoneTakeNoPart) {
  json infinite = result_of("CSR", noisy(1, 1));
  infinite["seconds"]["median"] = nullptr;
  json text = result_of("ELL", noisy(1, 1));
  text["seconds"] = "fast";
  json negative = result_of("DIA", {-1.0});
  EXPECT_TRUE(results_of(document_of({infinite, text, negative, 5, "x"})).empty());
}

TEST_F(Comparing, FilesWithoutResultsAreRefused) {
  EXPECT_THROW(results_in("a", "not JSON"), FileError);
  EXPECT_THROW(results_in("b", "{\"a\": 1}"), FileError);
  EXPECT_THROW(results_in("c", ""), FileError);
  EXPECT_THROW(timed_results({file("missing")}, problems_), FileError);
  EXPECT_THROW(compare({}, {}, {.threshold = -1}), InvalidArgument);
}

}  // namespace
}  // namespace strata::report
