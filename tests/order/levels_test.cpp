#include "strata/order/levels.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "tests/support/graphs.hpp"
#include "tests/support/matrices.hpp"

namespace strata {
namespace {

using test::Touching;

// Connected components of A + Aᵀ by union-find.
template <Index I>
I count_components(const PatternView<I>& pattern) {
  std::vector<I> leaders(pattern.rows);
  std::iota(leaders.begin(), leaders.end(), I{0});
  const auto leader = [&](I row) {
    while (leaders[row] != row) row = leaders[row] = leaders[leaders[row]];
    return row;
  };
  I components = pattern.rows;
  for (I row = 0; row < pattern.rows; ++row) {
    for (const I column : pattern.columns_of(row)) {
      components -= leader(row) != leader(column) ? 1 : 0;
      leaders[leader(row)] = leader(column);
    }
  }
  return components;
}

template <class I>
class LevelsTyped : public testing::Test {};
using IndexTypes = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(LevelsTyped, IndexTypes);

TYPED_TEST(LevelsTyped, RowsTouchOnlyNeighbouringLevelsForAnyNumberOfThreads) {
  using I = TypeParam;
  for (const auto& [name, pattern] : test::many_graphs<I>()) {
    SCOPED_TRACE(name);
    set_thread_count(1);
    const auto serial = find_levels(pattern.view());
    EXPECT_NO_THROW(require_levels(pattern.view(), serial));
    EXPECT_EQ(serial.components, count_components(pattern.view()));
    for (const int threads : {2, 5}) {
      set_thread_count(threads);
      EXPECT_EQ(find_levels(pattern.view()), serial) << threads << " threads";
    }
    set_thread_count(0);
  }
}

TYPED_TEST(LevelsTyped, AwkwardMatricesHaveLevelsIfTheyAreSquare) {
  using I = TypeParam;
  for (const auto& [name, entries] : test::awkward_matrices<double, I>()) {
    SCOPED_TRACE(name);
    const auto matrix = entries.to_csr();
    if (matrix.rows() != matrix.cols()) {
      EXPECT_THROW(find_levels(matrix.pattern()), InvalidArgument);
      EXPECT_THROW(require_levels(matrix.pattern(), LevelStructure<I>{}), InvalidArgument);
    } else {
      EXPECT_NO_THROW(require_levels(matrix.pattern(), find_levels(matrix.pattern())));
    }
  }
}

using I = std::int32_t;

I widest_level(const Pattern<I>& pattern) {
  const auto structure = find_levels(pattern.view());
  require_levels(pattern.view(), structure);
  return structure.max_rows();
}

TEST(Levels, RowsTouchOnlyNeighbouringLevelsForAnyWindow) {
  for (const auto& [name, pattern] : test::many_graphs<I>()) {
    SCOPED_TRACE(name);
    for (const Offset window : {Offset{1}, Offset{1} << 40}) {
      const auto structure = find_levels(pattern.view(), {.window = window});
      EXPECT_NO_THROW(require_levels(pattern.view(), structure)) << "window " << window;
    }
  }
}

TEST(Levels, OfAPathAreSingleRows) {
  const auto pattern = test::shuffled(test::path<I>(1000), 1);
  const auto structure = find_levels(pattern.view());
  EXPECT_EQ(structure.levels(), 1000);
  EXPECT_EQ(structure.max_rows(), 1);
}

TEST(Levels, OfAnElongatedBoxAreItsCrossSections) {
  const auto pattern = test::box<I>(16, 16, 32, Touching::corners);
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    EXPECT_LE(widest_level(test::shuffled(pattern, seed)), 1.1 * 256) << "seed " << seed;
  }
  EXPECT_EQ(widest_level(pattern), 256);
}

TEST(Levels, OfACubeAreItsFaces) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    EXPECT_LE(widest_level(test::shuffled(test::box<I>(20, 20, 20, Touching::corners), seed)), 400);
    // Diagonal cuts of a cube whose cells touch at faces alone are smaller, ¾n², but no copies of
    // each other.
    EXPECT_LE(widest_level(test::shuffled(test::box<I>(20, 20, 20, Touching::faces), seed)), 400);
  }
}

TEST(Levels, OfASquareAreAsWideAsItsSide) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    EXPECT_LE(widest_level(test::shuffled(test::box<I>(60, 60, 1, Touching::corners), seed)), 66);
    EXPECT_LE(widest_level(test::shuffled(test::box<I>(60, 60, 1, Touching::faces), seed)), 60);
  }
}

TEST(Levels, AFullRowLeavesThreeLevelsAtMost) {
  test::Edges entries = test::entries_of(test::path<I>(300));
  for (Offset column = 0; column < 300; ++column) entries.emplace_back(17, column);
  const auto pattern = test::pattern_of<I>(300, entries);
  EXPECT_LE(find_levels(pattern.view()).levels(), 3);
}

TEST(Levels, ManySmallComponentsShareLevels) {
  test::Edges pairs;
  for (Offset row = 0; row < 100000; row += 2) pairs.emplace_back(row, row + 1);
  const auto pattern = test::shuffled(test::graph_of<I>(200000, pairs), 1);
  const auto structure = find_levels(pattern.view());
  require_levels(pattern.view(), structure);
  EXPECT_EQ(structure.components, 150000);
  EXPECT_LT(structure.levels(), 2000);
  EXPECT_LT(structure.max_rows(), 2000);
}

TEST(Levels, SmallComponentsDoNotWidenTheWindowOfTheLargeOne) {
  const auto large = test::box<I>(10, 10, 60, Touching::corners);
  const Offset window = widest_window(large.view(), find_levels(large.view()), 3);
  const auto both = test::interleaved(test::graph_of<I>(5000, {}), large);
  const auto structure = find_levels(both.view());
  EXPECT_EQ(widest_window(both.view(), structure, 3), window);
  EXPECT_LT(structure.levels(), 60 + 20);
}

TEST(Levels, TheWindowCountsEntriesAndRowsOfConsecutiveLevels) {
  const auto pattern = test::path<I>(10);
  const auto structure = find_levels(pattern.view());
  EXPECT_EQ(widest_window(pattern.view(), structure, 1), 4);
  EXPECT_EQ(widest_window(pattern.view(), structure, 3), 12);
  EXPECT_EQ(widest_window(pattern.view(), structure, 100), 28 + 10);
  EXPECT_THROW(widest_window(pattern.view(), structure, 0), InvalidArgument);
  EXPECT_THROW(find_levels(pattern.view(), {.window = 0}), InvalidArgument);
}

TEST(Levels, AViolationIsNamed) {
  const auto pattern = test::path<I>(4);
  LevelStructure<I> structure{Permutation<I>({0, 2, 1, 3}), {0, 1, 2, 3, 4}, 1, ""};
  try {
    require_levels(pattern.view(), structure);
    FAIL() << "rows 0 and 1 are two levels apart";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "row 0 of level 0 touches row 1 of level 2");
  }
  structure.level_offsets = {0, 1, 3, 4};
  EXPECT_NO_THROW(require_levels(pattern.view(), structure));
  structure.level_offsets = {0, 1, 3};
  EXPECT_THROW(require_levels(pattern.view(), structure), InvalidArgument);
  structure.level_offsets = {0, 1, 1, 4};
  EXPECT_THROW(require_levels(pattern.view(), structure), InvalidArgument);
}

}  // namespace
}  // namespace strata
