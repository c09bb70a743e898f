#include "strata/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include "strata/base/error.hpp"
#include "strata/base/random.hpp"
#include "strata/order/levels.hpp"
#include "tests/support/graphs.hpp"

namespace strata {
namespace {

using I = std::int32_t;

std::vector<Offset> bytes_before(const PatternView<I>& pattern) {
  return {pattern.row_offsets.begin(), pattern.row_offsets.end()};
}

Tiling<I> tiled(const Pattern<I>& pattern, Offset tile_bytes, I alignment = 1) {
  const auto before = bytes_before(pattern.view());
  return make_tiling(pattern.view(), cut_rows<I>(before, tile_bytes, alignment), before);
}

// Rows and columns in another order.
Pattern<I> reordered(const Pattern<I>& pattern, const Permutation<I>& order) {
  const Permutation<I> names = order.inverse();
  test::Edges entries;
  for (const auto& [row, column] : test::entries_of(pattern)) {
    entries.emplace_back(names.old_of(static_cast<I>(row)), names.old_of(static_cast<I>(column)));
  }
  return test::pattern_of<I>(pattern.rows, std::move(entries));
}

Pattern<I> random_pattern(std::uint64_t seed) {
  const Random random(seed);
  const auto rows = static_cast<Offset>(random.below(0, 60));
  test::Edges entries;
  const auto count = rows == 0 ? 0 : random.below(1, 200);
  for (std::uint64_t k = 0; k < count; ++k) {
    entries.emplace_back(random.below(2 * k + 2, rows), random.below(2 * k + 3, rows));
  }
  return test::pattern_of<I>(rows, std::move(entries));
}

TEST(Schedule, EveryTaskRunsAfterItsInputsOnRandomMatrices) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Random random(seed, 1);
    Pattern<I> pattern = random_pattern(seed);
    if (seed % 2 == 0) pattern = reordered(pattern, find_levels(pattern.view()).order);
    const auto tiling = tiled(pattern, 1 + static_cast<Offset>(random.below(0, 30)),
                              1 + static_cast<I>(random.below(1, 4)));
    const int power = 1 + static_cast<int>(random.below(2, 6));
    replay(pattern.view(), tiling, plain_schedule(tiling, power));
    replay(pattern.view(), tiling,
           wavefront_schedule(tiling, power, static_cast<int>(random.below(3, 4))));
  }
}

TEST(Schedule, AWaveKeepsLittleOfABandOnChip) {
  const auto pattern = test::box<I>(2000, 1, 1, test::Touching::faces);
  const auto tiling = tiled(pattern, 30);  // ten rows each
  const Offset all = pattern.row_offsets.back();
  EXPECT_EQ(plain_schedule(tiling, 4).window_bytes, all);
  // Power k works one tile behind power k − 1; with slack 1, two.
  EXPECT_LE(wavefront_schedule(tiling, 4, 0).window_bytes, 5 * 30);
  EXPECT_LE(wavefront_schedule(tiling, 4, 1).window_bytes, 8 * 30);
}

TEST(Schedule, SlackPutsTasksBetweenATaskAndItsInputs) {
  const auto pattern = test::box<I>(2000, 1, 1, test::Touching::faces);
  const auto tiling = tiled(pattern, 30);
  const Schedule schedule = wavefront_schedule(tiling, 3, 2);
  const auto count = static_cast<Offset>(schedule.tasks.size());
  for (Offset i = 100; i < count - 100; ++i) {
    EXPECT_LE(schedule.ready_after[i], i - 3) << "task " << i;
  }
}

TEST(Schedule, RefusesOrdersThatBreakTheRules) {
  const auto pattern = test::box<I>(4, 1, 1, test::Touching::faces);
  const auto tiling = tiled(pattern, 1);
  ASSERT_EQ(tiling.tiles(), 4);
  const auto build = [&](std::vector<Task> tasks) {
    return schedule_from_order(tiling, 1, std::move(tasks));
  };
  EXPECT_THROW(build({{0, 1}, {1, 1}, {2, 1}}), InvalidArgument);          // one is missing
  EXPECT_THROW(build({{0, 1}, {1, 1}, {2, 1}, {2, 1}}), InvalidArgument);  // one is twice
  EXPECT_THROW(build({{0, 1}, {1, 1}, {2, 1}, {4, 1}}), InvalidArgument);  // no such tile
  EXPECT_THROW(build({{0, 1}, {1, 1}, {2, 1}, {3, 2}}), InvalidArgument);  // no such power
  EXPECT_THROW(schedule_from_order(
                   tiling, 2, {{0, 1}, {0, 2}, {1, 1}, {2, 1}, {3, 1}, {1, 2}, {2, 2}, {3, 2}}),
               InvalidArgument);  // tile 0 needs power 1 of tile 1
  EXPECT_THROW(plain_schedule(tiling, 0), InvalidArgument);
  EXPECT_THROW(wavefront_schedule(tiling, 2, -1), InvalidArgument);
}

TEST(Schedule, ReplayFindsAWaitThatIsTooShort) {
  const auto pattern = test::box<I>(40, 1, 1, test::Touching::faces);
  const auto tiling = tiled(pattern, 9);
  Schedule schedule = wavefront_schedule(tiling, 3, 0);
  replay(pattern.view(), tiling, schedule);
  for (std::size_t i = 0; i < schedule.tasks.size(); ++i) {
    if (schedule.tasks[i].power == 1) continue;
    Schedule broken = schedule;
    --broken.ready_after[i];
    EXPECT_THROW(replay(pattern.view(), tiling, broken), InvalidArgument) << "task " << i;
  }
  Schedule shortened = schedule;
  shortened.tasks.pop_back();
  shortened.ready_after.pop_back();
  EXPECT_THROW(replay(pattern.view(), tiling, shortened), InvalidArgument);
}

}  // namespace
}  // namespace strata
