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
