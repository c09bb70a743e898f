// p chosen for a number of products.

#include "strata/plans/internal/power_choice.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "strata/base/error.hpp"
#include "tests/plans/support.hpp"

namespace strata {
namespace {

using test::quick_options;
using I = std::int32_t;

// Of `planned` powers in sweeps of p.
PowerCandidate way(int power, double predicted, double measured = 0) {
  PowerCandidate candidate;
  candidate.strategy = power == 1 ? PowerStrategy::spmv : PowerStrategy::wavefront;
  candidate.block = power;
  candidate.window_bytes = power == 1 ? 0 : 1000 * power;
  candidate.predicted_seconds = predicted;
  candidate.predicted_overlapped_seconds = predicted / 2;
  candidate.memory_bytes = 12e6 / power;
  candidate.measured_seconds = measured;
  return candidate;
}

PowerOptions for_products(Offset products, int planned = 12) {
  PowerOptions options;
  options.products = products;
  options.power = planned;
  return options;
}

TEST(PowerChoice, EveryPowerIsACandidateUpToTheProducts) {
  using Sizes = std::vector<int>;
  EXPECT_EQ(detail::block_sizes(for_products(4)), (Sizes{4, 3, 2}));
  EXPECT_EQ(detail::block_sizes(for_products(1000)).size(), 11U);
  EXPECT_EQ(detail::block_sizes(for_products(1)), Sizes{});
  EXPECT_EQ(detail::judged_sweeps(for_products(1000), 5), Sizes{5});
  PowerOptions given;
  given.power = 7;
  EXPECT_EQ(detail::block_sizes(given), (Sizes{7, 4, 3, 2}));
  EXPECT_EQ(detail::judged_sweeps(given, 4), (Sizes{4, 3}));
}

TEST(PowerChoice, TheSearchPlansForAPowerThatTheProductsHave) {
  for (const Offset products : {1, 2, 3, 5, 6, 7, 100}) {
    PowerOptions options = for_products(products, 4);
    options.basis = Basis::chebyshev(-1, 1);
    const PowerOptions on_processor = detail::search_options(options, KernelTarget::processor);
    EXPECT_EQ(on_processor.power, std::min<Offset>(products, 6));
    EXPECT_EQ(on_processor.products, products);
    EXPECT_EQ(detail::search_options(options, KernelTarget::gpu).power,
              products < 4 ? products : 12);
  }
}

TEST(PowerChoice, WhatWholeSweepsLeaveRunsInAShorterOne) {
  const PowerOptions options = for_products(6);
  detail::ProductsToRun products(options);
  // A sweep of p takes 12, 20, 27 and 32, so that 4 is the fastest by itself.
  for (const auto& candidate : {way(1, 144), way(2, 120), way(3, 108), way(4, 96)}) {
    products.add(candidate);
  }
  const auto seconds = [&](const PowerCandidate& candidate) {
    return candidate.predicted_seconds * products.factor(candidate);
  };
  // 6 = 4 + 2 takes 52 and 3 + 3 takes 54; 12 powers twice as long, but for what each power more
  // has to gain.
  EXPECT_NEAR(seconds(way(4, 96)), 2 * 52, 2 * 52 * 0.02);
  EXPECT_NEAR(seconds(way(3, 108)), 2 * 54, 2 * 54 * 0.02);
  EXPECT_NEAR(seconds(way(1, 144)), 144, 1e-9);
  EXPECT_TRUE(std::isinf(seconds(way(7, 90)))) << "more powers than products";
  // A sweep that is slower than the one behind it still takes no longer than another of its own.
  EXPECT_LE(seconds(way(5, 30)), 2 * 2 * 12.5 * 1.02);
}

TEST(PowerChoice, OfEqualPowersTheSmallerWins) {
  const PowerOptions options = for_products(1200);
  detail::ProductsToRun products(options);
  const auto seconds = [&](int power, double predicted) {
    return predicted * products.factor(way(power, predicted));
  };
  EXPECT_LT(seconds(4, 100), seconds(8, 100));
  EXPECT_LT(seconds(8, 95), seconds(4, 100));
  const PowerOptions given;
  EXPECT_EQ(detail::ProductsToRun(given).factor(way(8, 100)), 1);
}

TEST(PowerChoice, TimesPlainProductsAndTheBestWayToSomePowers) {
  struct Entrant {
    PowerCandidate candidate;
  };
  std::vector<Entrant> entrants;
  for (const auto& candidate : {way(7, 50), way(8, 51), way(6, 52), way(6, 53), way(9, 54),
                                way(4, 60), way(2, 80), way(1, 100)}) {
    entrants.push_back({candidate});
  }
  std::vector<Entrant*> by_time;
  for (Entrant& entrant : entrants) by_time.push_back(&entrant);
  std::vector<int> timed;
  for (const Entrant* chosen : detail::favourites_by_power(by_time)) {
    timed.push_back(chosen->candidate.block);
  }
  // 7 is the best by the model, 9 neither that nor on the list, and 2 has no chance.
  EXPECT_EQ(timed, (std::vector<int>{7, 8, 6, 4, 1}));
}

// As GPUs plan: 12 powers in sweeps of 2, 3 and 4.
PlanRecord gpu_record() {
  PlanRecord record;
  record.candidates = {way(3, 60, 72), way(2, 78, 84), way(4, 48), way(3, 59), way(1, 120, 120)};
  record.plain_seconds = 120;
  return record;
}

TEST(PowerChoice, ARecordBecomesThatOfTheChosenPower) {
  PlanRecord record = gpu_record();
  EXPECT_EQ(detail::settle_power(record, for_products(100)), 3);
  ASSERT_EQ(record.candidates.size(), 3U) << "two ways to 3 powers and plain products";
  EXPECT_NEAR(record.choice().measured_seconds, 18, 1e-12);
  EXPECT_NEAR(record.choice().predicted_seconds, 15, 1e-12);
  EXPECT_NEAR(record.choice().memory_bytes, 1e6, 1e-6);
  EXPECT_NEAR(record.plain_seconds, 30, 1e-12);
  EXPECT_NEAR(record.candidates.back().measured_seconds, 30, 1e-12);
}

TEST(PowerChoice, PowersWithoutASweepRunInSeveral) {
  PlanRecord record = gpu_record();
  detail::settle_power(record, for_products(100));
  ASSERT_EQ(record.by_power.size(), 12U);
  const auto& speeds = record.by_power;
  for (int power = 1; power <= 12; ++power) EXPECT_EQ(speeds[power - 1].power, power);
  EXPECT_NEAR(speeds[1].way.measured_seconds, 14, 1e-12);
  EXPECT_NEAR(speeds[2].way.measured_seconds, 18, 1e-12) << "what was timed counts";
  EXPECT_NEAR(speeds[3].way.predicted_seconds, 16, 1e-12);
  // 5 = 4 + 1 takes 26, 3 + 2 takes 28.
  EXPECT_EQ(speeds[4].way.block, 4);
  EXPECT_NEAR(speeds[4].way.predicted_seconds, 26, 1e-12);
  EXPECT_EQ(speeds[4].way.measured_seconds, 0);
  EXPECT_EQ(speeds[7].way.block, 4);
  EXPECT_NEAR(speeds[7].way.predicted_seconds, 32, 1e-12);
}

TEST(PowerChoice, LevelsCountWhereSeveralSweepsAreSlower) {
  // 6 powers in two sweeps of 3 take 36.
  for (const double measured : {70.0, 90.0}) {
    PlanRecord record = gpu_record();
    record.candidates[2].predicted_seconds = 70;  // of 4, so that 4 + 2 is no match
    PowerCandidate levels = way(6, 90, measured);
    levels.strategy = PowerStrategy::levels;
    record.candidates.push_back(levels);
    detail::settle_power(record, for_products(100));
    const PowerCandidate& best = record.by_power[5].way;
    EXPECT_EQ(best.block, measured < 72 ? 6 : 3);
    EXPECT_NEAR(best.measured_seconds, measured < 72 ? 35 : 36, 1e-12);
  }
}

TEST(PowerChoice, TheReasonComparesTimingsWithTimings) {
  const std::string smaller =
      "p = 3 is the best of 1 … 12 for 100 products, as timed. Of the smaller ones p = 2 takes "
      "1.17 times as long: 500 kB per product come from memory instead of 333 kB.";
  PlanRecord record = gpu_record();
  detail::settle_power(record, for_products(100));
  EXPECT_EQ(power_reason(record), smaller) << "no larger one was timed";
  record = gpu_record();
  record.candidates[2].measured_seconds = 90;
  detail::settle_power(record, for_products(100));
  EXPECT_EQ(power_reason(record),
            smaller +
                " Of the larger ones p = 4 takes 1.25 times as long: its window is 4 kB "
                "instead of 3 kB, and it needs 5 vectors instead of 4.");
  EXPECT_EQ(power_reason({}), "");
}

TEST(PowerChoice, PlainProductsKeepTheBestSweepToTellWhy) {
  PlanRecord record;
  record.candidates = {way(1, 60, 60), way(4, 48, 66), way(2, 50, 80)};
  EXPECT_EQ(detail::settle_power(record, for_products(2, 6)), 1);
  ASSERT_EQ(record.candidates.size(), 2U);
  EXPECT_EQ(record.candidates[1].block, 4);
  EXPECT_NEAR(record.candidates[0].measured_seconds, 10, 1e-12);
  EXPECT_EQ(record.by_power.size(), 2U) << "of two products";
}

TEST(PowerChoice, PlansHaveThePowersThatTheyChose) {
  for (const char* spec : {"stencil7:10x10x60,shuffle=1", "band:4000,width=9", "random:500,nnzr=6",
                           "arrow:300", "mesh:2000,dim=2,nnzr=9"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    for (const Offset products : {1, 2, 5, 9, 100}) {
      PowerOptions options = quick_options();
      options.products = products;
      options.threads = 2;
      options.basis = Basis::chebyshev(-20, 20);
      options.cache_bytes = 200'000;
      auto plan = plan_powers(matrix, options);
      EXPECT_EQ(plan.record().products, products);
      EXPECT_EQ(plan.choice().block, plan.power());
      EXPECT_LE(plan.power(), std::min<Offset>(products, kLargestChosenPower));
      const auto& speeds = plan.record().by_power;
      ASSERT_FALSE(speeds.empty());
      EXPECT_EQ(speeds.front().power, 1);
      EXPECT_TRUE(speeds.front().way.plain());
      options.power = plan.power();
      test::expect_powers_of(plan, matrix, options);
    }
  }
}

TEST(PowerChoice, EveryPowerIsPredictedWhereSweepsAre) {
  const auto matrix = generate<double, I>("band:60000,width=25,coefficients=random");
  PowerOptions options = quick_options();
  options.products = 50;
  options.cache_bytes = 1'000'000;
  const auto plan = plan_powers(matrix, options);
  ASSERT_EQ(plan.record().by_power.size(), 12U) << plan.explain();
  for (const auto& [power, way] : plan.record().by_power) {
    EXPECT_EQ(way.block, power);
    EXPECT_GT(way.predicted_seconds, 0);
    // The same as a plan for p powers in one sweep, but for the size of its groups of rows.
    PowerOptions of_power = quick_options();
    of_power.power = power;
    of_power.block = power;
    of_power.cache_bytes = options.cache_bytes;
    of_power.strategy = power == 1 ? PowerStrategy::spmv : PowerStrategy::wavefront;
    const auto other = plan_powers(matrix, of_power);
    EXPECT_NEAR(way.predicted_seconds, other.choice().predicted_seconds,
                0.35 * other.choice().predicted_seconds)
        << power;
  }
  // Nothing was timed: the choice is that of the model, but for the gain that a power has to bring.
  const auto per_product = [](const PowerSpeed& speed) {
    return speed.way.predicted_seconds / speed.power;
  };
  double best = per_product(plan.record().by_power.front());
  for (const PowerSpeed& speed : plan.record().by_power) best = std::min(best, per_product(speed));
  EXPECT_LE(plan.choice().predicted_seconds / plan.power(), 1.1 * best);
  EXPECT_GT(plan.power(), 1) << plan.explain();
  EXPECT_NE(plan.explain().find("is the best of 1 … 12 for 50 products, by the model."),
            std::string::npos);
}

TEST(PowerChoice, TimesWhatMayWin) {
  const auto matrix = generate<double, I>("band:20000,width=9,coefficients=random");
  PowerOptions options = quick_options();
  options.autotune = true;
  options.products = 30;
  options.cache_bytes = 500'000;
  options.threads = 2;
  const auto plan = plan_powers(matrix, options);
  const auto& speeds = plan.record().by_power;
  EXPECT_GT(speeds.front().way.measured_seconds, 0) << plan.explain();
  EXPECT_GT(plan.choice().measured_seconds, 0);
  options.power = plan.power();
  test::expect_powers_of(plan, matrix, options);
}

TEST(PowerChoice, StrategiesAndOrdersOfVectorsAreHeeded) {
  const auto matrix = generate<double, I>("stencil7:9x9x60,shuffle=1");
  for (const PowerStrategy strategy : test::kStrategies) {
    for (const VectorOrder order : {VectorOrder::caller, VectorOrder::plan}) {
      PowerOptions options = quick_options();
      options.strategy = strategy;
      options.vector_order = order;
      options.products = 7;
      options.vectors = 2;
      options.threads = 3;
      const auto plan = plan_powers(matrix, options);
      EXPECT_EQ(plan.choice().strategy, strategy);
      EXPECT_EQ(plan.power() == 1, strategy == PowerStrategy::spmv);
      options.power = plan.power();
      test::expect_powers_of(plan, matrix, options);
    }
  }
}

TEST(PowerChoice, RefusesWhatCannotBeChosen) {
  const auto matrix = generate<double, I>("stencil5:9x9");
  PowerOptions options = quick_options();
  options.products = -1;
  test::expect_refused([&] { plan_powers(matrix, options); }, "-1 products are not positive");
  options.products = 10;
  options.block = 2;
  test::expect_refused([&] { plan_powers(matrix, options); },
                       "a plan chooses the powers per sweep for a number of products: no block");
  options.block = 0;
  options.basis = Basis::newton({1.0, 2.0});
  test::expect_refused([&] { plan_powers(matrix, options); },
                       "10 powers need as many shifts, the Newton basis has 2");
  options.products = 2;
  EXPECT_NO_THROW(plan_powers(matrix, options));
}

}  // namespace
}  // namespace strata
