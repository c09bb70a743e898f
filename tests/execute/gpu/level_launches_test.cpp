// Which kernels a sweep by levels launches: counted, and replayed row by row on the host.
#include "strata/execute/gpu/level_launches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/random.hpp"
#include "strata/order/levels.hpp"
#include "tests/support/graphs.hpp"

namespace strata::gpu {
namespace {

using I = std::int32_t;

std::vector<Offset> bytes_before(const PatternView<I>& pattern) {
  return {pattern.row_offsets.begin(), pattern.row_offsets.end()};
}

// A tile per group.
Tiling<I> tiled(const PatternView<I>& pattern, std::span<const I> group_rows) {
  return make_tiling<I>(pattern, bytes_before(pattern), {group_rows, Offset{1} << 40, 1});
}

Pattern<I> in_levels(const Pattern<I>& pattern, LevelStructure<I>& levels) {
  levels = find_levels(pattern.view());
  return test::reordered(pattern, levels.order);
}

// Two vectors, power k in place of power k − 2, whose elements say which power they are.
void expect_right_powers(const PatternView<I>& pattern, std::span<const LevelLaunch> launches,
                         int power) {
  std::vector<int> powers[2] = {std::vector<int>(pattern.rows, 0),
                                std::vector<int>(pattern.rows, -1)};
  for (const auto& [k, rows] : launches) {
    ASSERT_LT(rows.begin, rows.end);
    std::vector<int>& out = powers[k % 2];
    const std::vector<int>& in = powers[1 - k % 2];
    for (I row = rows.begin; row < rows.end; ++row) {
      ASSERT_EQ(in[row], k - 1) << "row " << row;
      ASSERT_EQ(out[row], k - 2) << "row " << row;
      for (const I column : pattern.columns_of(row)) ASSERT_EQ(in[column], k - 1) << "row " << row;
    }
    std::fill(out.begin() + rows.begin, out.begin() + rows.end, k);
  }
  EXPECT_TRUE(std::ranges::all_of(powers[power % 2], [&](int k) { return k == power; }));
}

TEST(LevelLaunches, EveryGroupHasOnePerPowerInTheOrderOfRace) {
  LevelStructure<I> levels;
  const Pattern<I> pattern = in_levels(test::path<I>(6), levels);
  ASSERT_GT(levels.levels(), 3);
  const Tiling<I> tiling = tiled(pattern.view(), levels.level_offsets);
  const auto launches = level_launches(tiling, wavefront_schedule(tiling, 3));
  EXPECT_EQ(std::ssize(launches), levels.levels() * 3);
  // Group 0 and its neighbour, and then always one step forward and back down the diagonal.
  const std::vector<int> first{1, 1, 2, 1, 2, 3, 1, 2, 3};
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(launches[i].power, first[i]) << i;
  expect_right_powers(pattern.view(), launches, 3);
}

TEST(LevelLaunches, PlainProductsHaveOnePerPower) {
  LevelStructure<I> levels;
  const Pattern<I> pattern = in_levels(test::box<I>(4, 5, 9, test::Touching::corners), levels);
  const Tiling<I> tiling = tiled(pattern.view(), levels.level_offsets);
  const auto launches = level_launches(tiling, plain_schedule(tiling, 5), {.merge = true});
  ASSERT_EQ(launches.size(), 5);
  for (int k = 1; k <= 5; ++k) {
    EXPECT_EQ(launches[k - 1].power, k);
    EXPECT_EQ(launches[k - 1].rows.begin, 0);
    EXPECT_EQ(launches[k - 1].rows.end, pattern.rows);
  }
  EXPECT_EQ(std::ssize(level_launches(tiling, plain_schedule(tiling, 5))), 5 * levels.levels());
}

TEST(LevelLaunches, NothingIsLaunchedForNoRows) {
  const Pattern<I> pattern = test::path<I>(7);
  const std::vector<I> groups{0, 0, 3, 3, 3, 7, 7};
  const Tiling<I> tiling = tiled(pattern.view(), groups);
  EXPECT_EQ(level_launches(tiling, plain_schedule(tiling, 4)).size(), 8);
  EXPECT_EQ(level_launches(tiling, plain_schedule(tiling, 4), {.merge = true}).size(), 4);
  const Pattern<I> empty;
  const Tiling<I> nothing = tiled(empty.view(), std::vector<I>{0});
  EXPECT_TRUE(level_launches(nothing, wavefront_schedule(nothing, 3)).empty());
}

TEST(LevelLaunches, EveryPowerOfEveryRowFindsItsInputsMergedOrNot) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Random random(seed, 3);
    const auto number = [&](std::uint64_t counter, Offset least, Offset most) {
      return least + static_cast<Offset>(random.below(counter, most - least + 1));
    };
    Pattern<I> pattern = seed % 3 == 0
                             ? test::random_pattern<I>(number(0, 1, 60), number(1, 0, 200), seed)
                             : test::shuffled(test::box<I>(number(0, 1, 5), number(1, 1, 5),
                                                           number(2, 1, 12), test::Touching::faces),
                                              seed);
    LevelStructure<I> levels;
    if (seed % 2 == 0) pattern = in_levels(pattern, levels);
    const auto before = bytes_before(pattern.view());
    const Array<I> groups = cut_rows<I>(before, {0, pattern.rows}, number(3, 1, 60), 1);
    const auto tiling = make_tiling<I>(pattern.view(), before, {groups, number(4, 1, 60), 1});
    const int power = static_cast<int>(number(5, 1, 6));
    const Schedule schedule = wavefront_schedule(
        tiling, power,
        {.slack = static_cast<int>(number(6, 0, 2)), .bands = static_cast<int>(number(7, 1, 3))});
    const auto launches = level_launches(tiling, schedule);
    const auto merged = level_launches(tiling, schedule, {.merge = true});
    EXPECT_LE(merged.size(), launches.size());
    expect_right_powers(pattern.view(), launches, power);
    expect_right_powers(pattern.view(), merged, power);
  }
}

TEST(LevelGroupBytes, SoManyGroupsAsPowersAndOneMoreFitIntoTheShareOfTheCache) {
  EXPECT_EQ(level_group_bytes({.bytes = 120}, 5), 10);
  EXPECT_EQ(level_group_bytes({.bytes = 120, .safety_factor = 1}, 5), 20);
  // Panzlaff sets twice the cache to undo the factor.
  EXPECT_EQ(level_group_bytes({.bytes = 120, .safety_factor = 2}, 3), 60);
  EXPECT_EQ(level_group_bytes({.bytes = 3}, 16), 1);
  EXPECT_THROW(level_group_bytes({.bytes = 0}, 2), InvalidArgument);
  EXPECT_THROW(level_group_bytes({.bytes = 100, .safety_factor = 0}, 2), InvalidArgument);
  EXPECT_THROW(level_group_bytes({.bytes = 100}, 0), InvalidArgument);
}

}  // namespace
}  // namespace strata::gpu
