#include "strata/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "strata/base/error.hpp"
#include "strata/base/random.hpp"
#include "strata/order/levels.hpp"
#include "strata/schedule/reuse.hpp"
#include "tests/support/graphs.hpp"

namespace strata {
namespace {

using I = std::int32_t;

std::vector<Offset> bytes_before(const PatternView<I>& pattern) {
  return {pattern.row_offsets.begin(), pattern.row_offsets.end()};
}

Tiling<I> tiled(const Pattern<I>& pattern, std::span<const I> groups, Offset tile_bytes,
                I alignment = 1) {
  return make_tiling<I>(pattern.view(), bytes_before(pattern.view()),
                        {groups, tile_bytes, alignment});
}

// A tile per group of about so many bytes.
Tiling<I> tiled(const Pattern<I>& pattern, Offset tile_bytes, I alignment = 1) {
  const Array<I> cuts =
      cut_rows<I>(bytes_before(pattern.view()), {0, pattern.rows}, tile_bytes, alignment);
  return tiled(pattern, cuts, std::numeric_limits<Offset>::max());
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
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const Random random(seed, 1);
    Pattern<I> pattern = random_pattern(seed);
    if (seed % 2 == 0) pattern = reordered(pattern, find_levels(pattern.view()).order);
    const auto group_bytes = 1 + static_cast<Offset>(random.below(0, 60));
    const auto alignment = 1 + static_cast<I>(random.below(1, 4));
    const Array<I> groups =
        cut_rows<I>(bytes_before(pattern.view()), {0, pattern.rows}, group_bytes, alignment);
    const auto tiling =
        tiled(pattern, groups, 1 + static_cast<Offset>(random.below(5, 20)), alignment);
    const int power = 1 + static_cast<int>(random.below(2, 6));
    replay(pattern.view(), tiling, plain_schedule(tiling, power));
    const WavefrontOptions options{.slack = static_cast<int>(random.below(3, 4)),
                                   .bands = 1 + static_cast<int>(random.below(4, 5))};
    replay(pattern.view(), tiling, wavefront_schedule(tiling, power, options));
  }
}

TEST(Schedule, ASweepKeepsLittleOfABandOnChip) {
  const auto pattern = test::box<I>(2000, 1, 1, test::Touching::faces);
  const auto tiling = tiled(pattern, 30);  // ten rows each
  const Offset all = pattern.row_offsets.back();
  const auto window = [&](const Schedule& schedule) {
    return ReuseProfile(tiling, schedule, 0).window_bytes();
  };
  EXPECT_EQ(window(plain_schedule(tiling, 4)), all);
  // Power k works one tile behind power k − 1; with slack 1, two.
  EXPECT_LE(window(wavefront_schedule(tiling, 4)), 5 * 30);
  EXPECT_LE(window(wavefront_schedule(tiling, 4, {.slack = 1})), 9 * 30);
}

// Planes of 32 × 32 cells in lines of 32: one tile per line.
TEST(Schedule, BandsMakeTheWindowAsNarrowAsTheyAre) {
  const auto pattern = test::box<I>(32, 32, 40, test::Touching::corners);
  std::vector<I> planes;
  for (I plane = 0; plane <= 40; ++plane) planes.push_back(plane * 32 * 32);
  const auto before = bytes_before(pattern.view());
  const auto tiling = make_tiling<I>(pattern.view(), before, {planes, 27 * 32, 32});
  const auto profile = [&](int bands) {
    const Schedule schedule = wavefront_schedule(tiling, 4, {.bands = bands});
    replay(pattern.view(), tiling, schedule);
    return ReuseProfile(tiling, schedule, 0);
  };
  const Offset whole_planes = profile(1).window_bytes();
  EXPECT_LE(whole_planes, 5 * 27 * 32 * 32);
  // Eight lines and three more for the borders, of 32: a third; every line near a border is loaded
  // twice, at most three lines of eight for p = 4.
  const ReuseProfile banded = profile(4);
  EXPECT_LE(banded.bytes_loaded(whole_planes / 2), before.back() * 11 / 8);
  EXPECT_GE(profile(1).bytes_loaded(whole_planes / 2), before.back() * 2);
}

TEST(ReuseProfile, CountsWhatASimulatedCacheOfTilesLoads) {
  const auto pattern = test::box<I>(12, 9, 7, test::Touching::faces);
  const auto tiling = tiled(pattern, 90);
  for (const Schedule& schedule :
       {plain_schedule(tiling, 3), wavefront_schedule(tiling, 3, {.slack = 1})}) {
    const ReuseProfile profile(tiling, schedule, 2);
    for (const Offset capacity : {0, 100, 500, 1000, 2000, 1000000}) {
      std::vector<std::int32_t> recent;  // the latest last
      Offset loaded = 0;
      for (const Task& task : schedule.tasks) {
        Offset size = 0;
        const auto found = std::ranges::find(recent, task.begin);
        for (auto tile = found; tile != recent.end(); ++tile) {
          const RowRange<I> rows = tiling.rows(*tile);
          size += tiling.bytes[*tile] + 2 * (rows.end - rows.begin);
        }
        if (found == recent.end() || size > capacity) loaded += tiling.bytes[task.begin];
        if (found != recent.end()) recent.erase(found);
        recent.push_back(task.begin);
      }
      EXPECT_EQ(profile.bytes_loaded(capacity), loaded) << "capacity " << capacity;
    }
    EXPECT_EQ(profile.bytes_read(), 3 * pattern.row_offsets.back());
    EXPECT_EQ(profile.bytes_once(), pattern.row_offsets.back());
  }
}

TEST(Schedule, SlackPutsTasksBetweenATaskAndItsInputs) {
  const auto pattern = test::box<I>(2000, 1, 1, test::Touching::faces);
  const auto tiling = tiled(pattern, 30);
  const Schedule schedule = wavefront_schedule(tiling, 3, {.slack = 2});
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
  EXPECT_THROW(build({{0, 3, 1}}), InvalidArgument);             // one is missing
  EXPECT_THROW(build({{0, 3, 1}, {2, 4, 1}}), InvalidArgument);  // one is twice
  EXPECT_THROW(build({{0, 5, 1}}), InvalidArgument);             // no such tile
  EXPECT_THROW(build({{0, 3, 1}, {3, 4, 2}}), InvalidArgument);  // no such power
  EXPECT_THROW(build({{0, 4, 1}, {4, 3, 1}}), InvalidArgument);  // not a range
  EXPECT_THROW(schedule_from_order(tiling, 2, {{0, 1, 1}, {0, 1, 2}, {1, 4, 1}, {1, 4, 2}}),
               InvalidArgument);  // tile 0 needs power 1 of tile 1
  EXPECT_THROW(plain_schedule(tiling, 0), InvalidArgument);
  EXPECT_THROW(wavefront_schedule(tiling, 2, {.slack = -1}), InvalidArgument);
  EXPECT_THROW(wavefront_schedule(tiling, 2, {.bands = 0}), InvalidArgument);
}

TEST(Schedule, ReplayFindsAWaitThatIsTooShort) {
  const auto pattern = test::box<I>(40, 1, 1, test::Touching::faces);
  const auto tiling = tiled(pattern, 9);
  Schedule schedule = wavefront_schedule(tiling, 3);
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
