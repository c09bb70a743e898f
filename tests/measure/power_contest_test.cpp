// The power contest: who takes part, in which order, and whether all are right.

#include "strata/measure/power_contest.hpp"

#include "strata/base/error.hpp"
#include "tests/measure/support.hpp"

namespace strata::test {
namespace {

using Results = std::vector<PowerResult>;

class PowerContest : public testing::Test {
 protected:
  PowerContest() {
    sweep_.powers = {3};
    sweep_.strategies = {PowerStrategy::levels};
    sweep_.options.profile = &profile_;
    sweep_.options.autotune = false;
    options_.min_seconds = 0;
    options_.min_repetitions = 1;
  }

  // The results of every call, one after another.
  template <Value V>
  std::vector<Results> contest(const Matrix<V>& matrix) const {
    std::vector<Results> calls;
    hold_power_contest(matrix, sweep_, profile_, options_,
                       [&](const Results& results) { calls.push_back(results); });
    return calls;
  }

  const MachineProfile profile_ = imaginary_machine();
  PowerSweep sweep_;
  ContestOptions options_;
};

TEST_F(PowerContest, PlainProductsComeFirstAsGivenAndInLevels) {
  const auto calls = contest(grid<double>(20, 30));
  ASSERT_EQ(calls.size(), 1U);
  const Results& results = calls.front();
  ASSERT_EQ(results.size(), 3U);
  EXPECT_TRUE(results[0].baseline());
  EXPECT_EQ(results[0].choice.order.kind, RowOrder::Kind::given);
  EXPECT_TRUE(results[1].baseline());
  EXPECT_EQ(results[1].choice.order.kind, RowOrder::Kind::levels);
  EXPECT_EQ(results[2].asked(), PowerStrategy::levels);
  const double entries = static_cast<double>(grid<double>(20, 30).nnz());
  for (const PowerResult& result : results) {
    EXPECT_EQ(result.power(), 3);
    EXPECT_EQ(result.measurement.flops, 2 * 3 * entries);
    EXPECT_EQ(result.context.flops, result.measurement.flops);
    EXPECT_EQ(result.minimum_bytes, 8 * (static_cast<Offset>(entries) + 600 * 4));
    EXPECT_TRUE(result.measurement.check->passed) << result.measurement.check->explain();
    EXPECT_EQ(result.measurement.check->judged, 3 * 600);
    EXPECT_FALSE(result.overflow);
  }
}

TEST_F(PowerContest, PlainProductsAreReportedOncePerPower) {
  sweep_.powers = {2, 4};
  sweep_.cache_sizes = {32 << 10, 64 << 10};
  const auto calls = contest(grid<double>(20, 30));
  ASSERT_EQ(calls.size(), 4U);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].size(), i % 2 == 0 ? 3U : 1U);
    EXPECT_EQ(calls[i].back().power(), i < 2 ? 2 : 4);
    EXPECT_EQ(calls[i].back().context.options.cache_bytes, i % 2 == 0 ? 32 << 10 : 64 << 10);
    EXPECT_GT(calls[i].back().speed_up, 0) << "plain products are timed nevertheless";
  }
}

template <class V>
class PowerContestOfValues : public PowerContest {};
TYPED_TEST_SUITE(PowerContestOfValues, AllValues);

TYPED_TEST(PowerContestOfValues, IsRightInBothOrdersOfVectors) {
  for (const VectorOrder order : {VectorOrder::caller, VectorOrder::plan}) {
    this->sweep_.options.vector_order = order;
    this->sweep_.options.vectors = 2;
    const auto calls = this->contest(grid<TypeParam>(11, 13));
    for (const PowerResult& result : calls.front()) {
      EXPECT_TRUE(result.measurement.check->passed) << result.measurement.check->explain();
      EXPECT_EQ(result.context.precision, precision_of<TypeParam>());
    }
  }
}

TEST_F(PowerContest, OverflowIsFoundWithAndWithoutValidation) {
  sweep_.powers = {5};
  sweep_.strategies = {PowerStrategy::automatic};
  for (const bool validate : {true, false}) {
    options_.validate = validate;
    const auto calls = contest(diagonal<double>(4, 1e100));
    for (const PowerResult& result : calls.front()) {
      EXPECT_EQ(result.measurement.check.has_value(), validate);
      ASSERT_TRUE(result.overflow);
      EXPECT_EQ(result.overflow->power, 4);
      EXPECT_EQ(result.overflow->element, 0);
    }
  }
}

TEST_F(PowerContest, MatricesThatAreNotSquareHaveNoPowers) {
  Entries<double, std::int32_t> entries(2, 3, 1);
  entries.add(0, 2);
  EXPECT_THROW(contest(entries.coo().to_csr()), InvalidArgument);
}

TEST_F(PowerContest, JsonHasItsKeysInTheOrderOfTheContract) {
  const PowerResult result = contest(grid<double>(20, 30)).front().back();
  const std::vector<std::string> keys{"kernel",
                                      "backend",
                                      "format",
                                      "variant",
                                      "strategy",
                                      "power",
                                      "parameters",
                                      "threads",
                                      "precision",
                                      "asked",
                                      "setup_seconds",
                                      "seconds",
                                      "gflops",
                                      "gbytes_per_second",
                                      "error",
                                      "percent_of_memory_bandwidth",
                                      "bytes",
                                      "encodings",
                                      "speedup_over_spmv"};
  const Json json = json_of(result);
  ASSERT_GE(json.keys().size(), keys.size());
  EXPECT_TRUE(std::equal(keys.begin(), keys.end(), json.keys().begin())) << text_of(json, 2);
  EXPECT_EQ(json.keys().back(), "predicted");
}

TEST_F(PowerContest, TracesAreMadeOnRequest) {
  const auto matrix = grid<double>(20, 30);
  const auto untraced = contest(matrix);
  for (const PowerResult& result : untraced.front()) EXPECT_FALSE(result.trace);
  sweep_.trace = true;
  const auto calls = contest(matrix);
  ASSERT_EQ(calls.front().size(), 3U);
  for (const PowerResult& result : calls.front()) {
    ASSERT_TRUE(result.trace);
    EXPECT_GE(result.trace->tasks.size(), 3U);
    EXPECT_TRUE(result.measurement.check->passed);
    Json json = json_of(result);
    ASSERT_EQ(json["trace"].elements().size(), result.trace->tasks.size());
    Json first = json["trace"].elements().front();
    EXPECT_EQ(first.keys(),
              (std::vector<std::string>{"level", "levels", "power", "start", "end", "thread"}));
    EXPECT_EQ(first["power"].integer(), 1);
    EXPECT_EQ(first["start"].real(), 0);
    EXPECT_NEAR(first["end"].real(), result.trace->tasks.front().end_seconds, 1e-9);
  }
}

TEST(PowerResult, LongTracesAreJoinedAndSaySo) {
  PowerResult result;
  result.trace.emplace();
  for (std::int32_t tile = 0; tile < 30'000; ++tile) {
    result.trace->tasks.push_back({tile, tile + 1, 1, 0, 1e-6 * tile, 1e-6 * (tile + 1)});
  }
  Json json = json_of(result);
  EXPECT_EQ(json["trace"].elements().size(), 7'500U);
  EXPECT_EQ(json["trace_levels_per_entry"].integer(), 4);
  EXPECT_EQ(Json(json["trace"].elements().back())["levels"].integer(), 4);
}

TEST(PowerResult, WhatWasRefusedSaysWhyAndHasNoNumbers) {
  PowerResult result;
  result.refusal = "too large";
  EXPECT_EQ(json_of(result)["refused"].string(), "too large");
  EXPECT_EQ(json_of(result).keys().back(), "refused");
}

TEST(PowerResult, PlainProductsInAnyFormatHaveTheParametersOfTheirProduct) {
  PowerResult result;
  result.choice.format = {Format::bcsr, 1};
  result.choice.product = ProductSpec{parse_format_spec("bcsr:block_rows=3,block_cols=2")};
  Json json = json_of(result);
  EXPECT_EQ(json["format"].string(), "bcsr");
  EXPECT_EQ(json["parameters"]["block_rows"].integer(), 3);
  EXPECT_EQ(json["parameters"]["block_cols"].integer(), 2);
  EXPECT_EQ(std::ranges::count(json["parameters"].keys(), "product"), 0);

  result.choice.format = {Format::sell, 1};
  result.choice.product =
      ProductSpec{parse_format_spec("sell:slice_height=32,sort_window=256"), "of some kind"};
  json = json_of(result);
  EXPECT_EQ(json["parameters"]["slice_height"].integer(), 32);
  EXPECT_EQ(json["parameters"]["sort_window"].integer(), 256);
  EXPECT_EQ(json["parameters"]["product"].string(), name_of(*result.choice.product));
}

TEST(PowerResult, CandidatesOfAPlanAreListedWithTheChoiceFirst) {
  const MachineProfile profile = imaginary_machine();
  const PowerOptions options{.power = 4, .autotune = false, .profile = &profile};
  const auto plan = plan_powers(grid<double>(20, 30), options);
  auto results = candidates_json(plan.record(), {.options = options, .flops = 1e6});
  ASSERT_EQ(results.size(), plan.candidates().size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i]["kernel"].string(), "explain");
    EXPECT_EQ(results[i]["chosen"].boolean(), i == 0);
  }
}

}  // namespace
}  // namespace strata::test
