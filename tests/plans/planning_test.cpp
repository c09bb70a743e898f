// What the planners of all devices share.

#include "strata/plans/internal/planning.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string_view>

#include "strata/plans/internal/explanation.hpp"

namespace strata::detail {
namespace {

struct Entrant {
  PowerCandidate candidate;
  bool moved = false;
  std::vector<double> seconds;  // of its runs
  std::size_t runs = 0;

  bool reordered() const { return moved; }
};

Entrant entrant(PowerStrategy strategy, double predicted, double measured = 0) {
  Entrant made;
  made.candidate.strategy = strategy;
  made.candidate.predicted_seconds = predicted;
  made.candidate.measured_seconds = measured;
  return made;
}

TEST(Planning, WindowsFillAShareOfTheCache) {
  PowerOptions options;
  EXPECT_EQ(window_budget(options, 1000, 0.7), 700);
  options.cache_bytes = 200;
  EXPECT_EQ(window_budget(options, 1000, 0.7), 140);
  options.cache_share = 1;
  EXPECT_EQ(window_budget(options, 1000, 0.7), 200);
  options.cache_bytes = 0;
  EXPECT_EQ(window_budget(options, 1000, 0.7), 1000);
  options.cache_bytes = std::numeric_limits<Offset>::max();
  options.cache_share = 16;
  EXPECT_EQ(window_budget(options, 1000, 0.7), Offset{1} << 62);
}

TEST(Planning, ExplainsWhereTheSetUpWent) {
  PlanRecord record;
  record.candidates.resize(1);
  record.setup_seconds = 1;
  record.parts = {{PlanningPart::Kind::storing, "csr, rows given", 0.5},
                  {PlanningPart::Kind::levels, "", 0.2},
                  {PlanningPart::Kind::order, "", 0.01}};
  const std::string text = explain(record, {});
  EXPECT_NE(text.find("Of that, 500.00 ms for storing csr, rows given; 200.00 ms for levels.\n"),
            std::string::npos)
      << text;
}

TEST(Planning, ExplainsWhichShareOfTheCacheLevelsWereCutFor) {
  PlanRecord record;
  record.candidates.resize(2);
  PowerCandidate& levels = record.candidates.front();
  levels.strategy = PowerStrategy::graph;
  levels.block = 4;
  levels.cache_share = 2;
  levels.measured_seconds = 2;
  record.candidates.back().measured_seconds = 1;
  record.candidates.back().memory_bytes = 1e9;
  EXPECT_EQ(method_text(levels, 8), "graph 4+4, share 2");
  const auto explains = [&](std::string_view sentence) {
    Subject subject;
    subject.power = 8;
    const std::string text = explain(record, subject);
    EXPECT_NE(text.find(sentence), std::string::npos) << text;
  };
  explains(
      "Groups of levels are cut for 2 times the cache, so that their kernels fill the device "
      "better: "
      "0.50 times as fast as plain products (timed).");
  levels.cache_share = 1;
  EXPECT_EQ(method_text(levels, 4), "graph, share 1");
  explains(
      "stays in the cache, so that 0 kB come from memory instead of 1.00 GB: 0.50 times as fast as "
      "plain products (timed).");
  levels.cache_share = 0;
  EXPECT_EQ(method_text(levels, 4), "graph");
}

TEST(Planning, AWindowHasAGroupMoreThanPowers) {
  EXPECT_EQ(level_group_bytes(120, 5), 20);
  EXPECT_EQ(level_group_bytes(240, 3), 60);
  EXPECT_EQ(level_group_bytes(3, 16), 1);
}

TEST(Planning, BlocksAreAllPowersOrPartsOfThem) {
  EXPECT_EQ(block_sizes(8, 0), (std::vector{8, 4, 3, 2}));
  EXPECT_EQ(block_sizes(6, 0), (std::vector{6, 3, 2}));
  EXPECT_EQ(block_sizes(5, 0), (std::vector{5, 3, 2}));
  EXPECT_EQ(block_sizes(3, 0), (std::vector{3, 2}));
  EXPECT_EQ(block_sizes(1, 0), std::vector<int>());
  EXPECT_EQ(block_sizes(8, 3), std::vector{3});
  EXPECT_EQ(block_sizes(2, 3), std::vector{2});
  EXPECT_EQ(blocks_of(7, 4), (std::vector{4, 3}));
  EXPECT_EQ(blocks_of(7, 3), (std::vector{3, 2, 2}));
  EXPECT_EQ(blocks_of(6, 4), (std::vector{3, 3}));
  EXPECT_EQ(blocks_of(8, 4), (std::vector{4, 4}));
  EXPECT_EQ(blocks_of(1, 1), std::vector{1});
}

TEST(Planning, CopiesCountOnlyWhereVectorsMove) {
  PowerOptions options;
  options.power = 3;
  EXPECT_EQ(copy_bytes(options, false, 10, 8, 4), 0);
  EXPECT_EQ(copy_bytes(options, true, 10, 8, 4), 10 * 4 * (3 * 8 + 4));
  options.vector_order = VectorOrder::plan;
  EXPECT_EQ(copy_bytes(options, true, 10, 8, 4), 0);
}

TEST(Planning, WhatWasAskedForComesBeforeWhatIsFaster) {
  PowerOptions options;
  options.strategy = PowerStrategy::levels;
  EXPECT_LT(rank_of(entrant(PowerStrategy::levels, 9), options, false, {}),
            rank_of(entrant(PowerStrategy::spmv, 1), options, false, {}));
  options.strategy = PowerStrategy::automatic;
  EXPECT_GT(rank_of(entrant(PowerStrategy::levels, 9), options, false, {}),
            rank_of(entrant(PowerStrategy::spmv, 1), options, false, {}));
}

TEST(Planning, WhatWasTimedComesBeforeWhatWasPredicted) {
  const Entrant timed = entrant(PowerStrategy::wavefront, 9, 5);
  const Entrant predicted = entrant(PowerStrategy::spmv, 1);
  EXPECT_LT(rank_of(timed, {}, true, {}), rank_of(predicted, {}, true, {}));
  EXPECT_GT(rank_of(timed, {}, false, {}), rank_of(predicted, {}, false, {}));
}

TEST(Planning, WhatIsSimplerWinsIfItIsAlmostAsFast) {
  const Handicaps handicaps{.blocked = 1.1, .reordered = 1.2};
  const auto rank = [&](const Entrant& some) { return rank_of(some, {}, false, handicaps); };
  EXPECT_LT(rank(entrant(PowerStrategy::spmv, 1.05)), rank(entrant(PowerStrategy::wavefront, 1)));
  EXPECT_GT(rank(entrant(PowerStrategy::spmv, 1.15)), rank(entrant(PowerStrategy::wavefront, 1)));
  Entrant moved = entrant(PowerStrategy::wavefront, 1);
  moved.moved = true;
  EXPECT_LT(rank(entrant(PowerStrategy::spmv, 1.3)), rank(moved));
  EXPECT_GT(rank(entrant(PowerStrategy::spmv, 1.35)), rank(moved));
  // Of one power there is nothing to add up.
  const Handicaps of_products{.whole = 1.1};
  Entrant whole = entrant(PowerStrategy::spmv, 1);
  whole.candidate.product = ProductSpec{FormatSpec(Format::dia)};
  PowerOptions options;
  const Entrant other = entrant(PowerStrategy::spmv, 1.05);
  EXPECT_LT(rank_of(other, options, false, of_products),
            rank_of(whole, options, false, of_products));
  options.power = 1;
  EXPECT_GT(rank_of(other, options, false, of_products),
            rank_of(whole, options, false, of_products));
}

TEST(Planning, TrialsForgetTheFirstRoundAndDropWhoeverIsBeaten) {
  Entrant fast = entrant(PowerStrategy::spmv, 1);
  fast.seconds = {9, 2, 1, 3};
  Entrant slow = entrant(PowerStrategy::wavefront, 1);
  slow.seconds = {9, 8, 7, 6};
  time_in_turn<Entrant>({&fast, &slow}, {.rounds = 4, .seconds = 0, .beaten = 1.5},
                        [](Entrant& some) { return some.seconds[some.runs++]; });
  EXPECT_EQ(fast.candidate.measured_seconds, 1);
  EXPECT_EQ(fast.runs, 4U);
  EXPECT_EQ(slow.candidate.measured_seconds, 8);
  EXPECT_EQ(slow.runs, 2U);

  // Who has run before is not slow in the warm-up, which says nothing about the others.
  Entrant warm = entrant(PowerStrategy::spmv, 1);
  warm.seconds = {2, 2, 2, 2};
  Entrant cold = entrant(PowerStrategy::spmv, 1);
  cold.seconds = {9, 1, 1, 1};
  time_in_turn<Entrant>({&warm, &cold}, {.rounds = 4, .seconds = 0, .beaten = 1.5},
                        [](Entrant& some) { return some.seconds[some.runs++]; });
  EXPECT_EQ(cold.candidate.measured_seconds, 1);
  EXPECT_EQ(cold.runs, 4U);
  EXPECT_EQ(warm.runs, 2U);
}

TEST(Planning, WhoIsHopelessDropsOutAfterTheWarmUp) {
  Entrant fast = entrant(PowerStrategy::spmv, 1);
  Entrant stuck = entrant(PowerStrategy::wavefront, 1);
  std::size_t runs = 0;
  time_in_turn<Entrant>({&fast, &stuck}, {.rounds = 4, .seconds = 0, .hopeless = 10},
                        [&](const Entrant& some) {
                          runs += &some == &stuck ? 1 : 0;
                          return &some == &stuck ? 11.0 : 1.0;
                        });
  EXPECT_EQ(runs, 1U);
  EXPECT_EQ(stuck.candidate.measured_seconds, 11);
}

TEST(Planning, TheRecordKnowsWhyPlainProductsRun) {
  const auto record = [](std::vector<PowerCandidate> candidates, const PowerOptions& options,
                         Offset levels = 0, bool affords = true) {
    PlanRecord made;
    made.levels = levels;
    record_candidates(made, std::move(candidates), options, affords);
    return made;
  };
  const PowerCandidate plain = entrant(PowerStrategy::spmv, 2).candidate;
  const PowerCandidate sweep = entrant(PowerStrategy::wavefront, 3).candidate;
  PowerOptions options;
  EXPECT_EQ(record({sweep, plain}, options).plain_reason, PlainReason::none);
  EXPECT_EQ(record({sweep, plain}, options).plain_seconds, 2);
  EXPECT_EQ(record({plain, sweep}, options).plain_reason, PlainReason::slower_otherwise);
  EXPECT_EQ(record({plain}, options, 5).plain_reason, PlainReason::few_levels);
  EXPECT_EQ(record({plain}, options).plain_reason, PlainReason::in_cache);
  EXPECT_EQ(record({plain}, options, 0, false).plain_reason, PlainReason::few_processors);
  PlanRecord random;
  random.spreads_fast = true;
  record_candidates(random, {plain}, options, true);
  EXPECT_EQ(random.plain_reason, PlainReason::fast_expansion);
  options.power = 1;
  EXPECT_EQ(record({plain}, options).plain_reason, PlainReason::one_power);
  options.strategy = PowerStrategy::spmv;
  EXPECT_EQ(record({plain}, options).plain_reason, PlainReason::asked_for);
}

}  // namespace
}  // namespace strata::detail
