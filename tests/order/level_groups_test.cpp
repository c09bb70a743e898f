#include "strata/order/level_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "tests/support/graphs.hpp"

namespace strata {
namespace {

// The group of every row, checked to be in exactly one.
template <Index I>
std::vector<I> group_of_each_row(const LevelGroups<I>& groups, I rows, I alignment) {
  EXPECT_EQ(groups.group_offsets.front(), 0);
  EXPECT_EQ(groups.group_offsets.back(), groups.order.padded_rows());
  EXPECT_EQ(groups.order.rows(), rows);
  std::vector<I> group_of(rows, -1);
  for (std::size_t group = 1; group < groups.group_offsets.size(); ++group) {
    const I begin = groups.group_offsets[group - 1];
    EXPECT_EQ(begin % alignment, 0);
    bool any = false;
    for (I position = begin; position < groups.group_offsets[group]; ++position) {
      const I row = groups.order.row_at(position);
      if (row == PaddedOrder<I>::kEmpty) continue;
      EXPECT_EQ(group_of[row], -1);
      group_of[row] = static_cast<I>(group) - 1;
      any = true;
    }
    EXPECT_TRUE(any) << "group " << group - 1 << " is empty";
  }
  EXPECT_EQ(std::ranges::find(group_of, -1), group_of.end());
  return group_of;
}

// What powers rely on.
template <Index I>
void expect_groups_touch_neighbours_only(const PatternView<I>& pattern,
                                         const std::vector<I>& group_of) {
  for (I row = 0; row < pattern.rows; ++row) {
    for (const I column : pattern.columns_of(row)) {
      ASSERT_LE(std::abs(group_of[row] - group_of[column]), 1)
          << "row " << row << " touches row " << column;
    }
  }
}

template <class I>
class LevelGroupsTyped : public testing::Test {};
using IndexTypes = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(LevelGroupsTyped, IndexTypes);

TYPED_TEST(LevelGroupsTyped, HoldEveryRowOnceAndTouchOnlyTheirNeighbours) {
  using I = TypeParam;
  for (const auto& [name, pattern] : test::many_graphs<I>()) {
    SCOPED_TRACE(name);
    const auto structure = find_levels(pattern.view());
    for (const Offset entries : {Offset{1}, Offset{50}, Offset{1} << 40}) {
      for (const I alignment : {1, 8, 5}) {
        for (const InnerOrder inner : {InnerOrder::natural, InnerOrder::bfs}) {
          for (const I window : {1, 16}) {
            const auto groups =
                group_levels<I>(pattern.view(), structure, {entries, alignment, inner, window});
            const auto group_of = group_of_each_row<I>(groups, pattern.rows, alignment);
            expect_groups_touch_neighbours_only<I>(pattern.view(), group_of);
            if (testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
}

using I = std::int32_t;

TEST(LevelGroups, DoNotDependOnTheNumberOfThreads) {
  const auto pattern = test::shuffled(test::box<I>(40, 40, 40, test::Touching::faces), 1);
  const auto structure = find_levels(pattern.view());
  const auto rows_at = [&](int threads) {
    set_thread_count(threads);
    const auto groups = group_levels<I>(pattern.view(), structure, {5000, 32, InnerOrder::bfs, 64});
    set_thread_count(0);
    std::vector<I> rows(groups.group_offsets.begin(), groups.group_offsets.end());
    for (I i = 0; i < groups.order.padded_rows(); ++i) rows.push_back(groups.order.row_at(i));
    return rows;
  };
  const auto serial = rows_at(1);
  EXPECT_EQ(rows_at(2), serial);
  EXPECT_EQ(rows_at(5), serial);
}

// By definition, for few large levels, for as many as rows, and for lengths of a wide range.
TEST(LevelGroups, HaveTheRowsOfLevelsSortedByNumberAndThenByLength) {
  const auto box = test::shuffled(test::box<I>(30, 30, 30, test::Touching::faces), 1);
  const auto path = test::shuffled(test::path<I>(20000), 2);
  const auto star = test::shuffled(test::star<I>(9000), 3);
  for (const auto* pattern : {&box, &path, &star}) {
    const auto structure = find_levels(pattern->view());
    for (const I window : {1, 100}) {
      std::vector<I> expected(structure.order.old_of_new().begin(),
                              structure.order.old_of_new().end());
      for (I level = 0; level < structure.levels(); ++level) {
        const auto rows =
            std::span(expected).subspan(structure.level_offsets[level], structure.rows_of(level));
        std::ranges::sort(rows);
        for (std::size_t begin = 0; begin < rows.size(); begin += window) {
          std::ranges::stable_sort(
              rows.subspan(begin, std::min<std::size_t>(window, rows.size() - begin)),
              std::ranges::greater{}, [&](I row) { return pattern->view().row_length(row); });
        }
      }
      for (const int threads : {1, 2, 5}) {
        set_thread_count(threads);
        const auto groups =
            group_levels<I>(pattern->view(), structure, {1000, 1, InnerOrder::natural, window});
        set_thread_count(0);
        for (I row = 0; row < pattern->rows; ++row) {
          ASSERT_EQ(groups.order.row_at(row), expected[row]) << threads << " threads";
        }
      }
    }
  }
}

// Planes of 4 × 4 cells.
TEST(LevelGroups, GrowUpToTheirEntriesButHoldOneLevelAtLeast) {
  const auto pattern = test::box<I>(4, 4, 30, test::Touching::corners);
  const auto structure = find_levels(pattern.view());
  ASSERT_EQ(structure.levels(), 30);
  const Offset plane = 100 * 3;  // 10 × 10 entries within a plane, and to both neighbours
  const auto groups_of = [&](Offset entries) {
    return group_levels<I>(pattern.view(), structure, {entries}).group_offsets.size() - 1;
  };
  EXPECT_EQ(groups_of(1), 30u);
  EXPECT_EQ(groups_of(plane), 30u);
  EXPECT_EQ(groups_of(2 * plane), 15u);
  EXPECT_EQ(groups_of(std::numeric_limits<Offset>::max() / 2), 1u);
}

TEST(LevelGroups, KeepRowsOfALevelInTheAskedOrder) {
  const auto pattern = test::shuffled(test::box<I>(6, 6, 20, test::Touching::faces), 3);
  const auto structure = find_levels(pattern.view());
  const auto rows = [&](InnerOrder inner, I window) {
    return group_levels<I>(pattern.view(), structure, {200, 1, inner, window}).order;
  };
  const auto natural = rows(InnerOrder::natural, 1);
  const auto bfs = rows(InnerOrder::bfs, 1);
  const auto sorted = rows(InnerOrder::bfs, 8);
  const auto length_at = [&](I i) { return pattern.view().row_length(sorted.row_at(i)); };
  for (I level = 0; level < structure.levels(); ++level) {
    const I begin = structure.level_offsets[level];
    for (I i = begin; i < structure.level_offsets[level + 1]; ++i) {
      EXPECT_EQ(bfs.row_at(i), structure.order.old_of(i));
      if (i > begin) {
        EXPECT_LT(natural.row_at(i - 1), natural.row_at(i));
      }
      if ((i - begin) % 8 != 0) {
        EXPECT_GE(length_at(i - 1), length_at(i));
      }
    }
  }
}

TEST(LevelGroups, OfAnySizeHaveTheirRowsInTheSameOrder) {
  const auto pattern = test::shuffled(test::box<I>(9, 9, 30, test::Touching::faces), 3);
  const auto structure = find_levels(pattern.view());
  for (const InnerOrder inner : {InnerOrder::natural, InnerOrder::bfs}) {
    const auto rows = [&](Offset entries, I alignment) {
      const auto order =
          group_levels<I>(pattern.view(), structure, {entries, alignment, inner, 16}).order;
      std::vector<I> found;
      for (I i = 0; i < order.padded_rows(); ++i) {
        if (order.row_at(i) != PaddedOrder<I>::kEmpty) found.push_back(order.row_at(i));
      }
      return found;
    };
    EXPECT_EQ(rows(1000, 32), rows(1, 1));
    EXPECT_EQ(rows(100000, 8), rows(1, 1));
  }
}

TEST(LevelGroups, OfNoRowsAreNone) {
  const Pattern<I> none;
  const auto groups = group_levels<I>(none.view(), find_levels(none.view()), {1, 32});
  EXPECT_EQ(groups.group_offsets.size(), 1u);
  EXPECT_EQ(groups.order.padded_rows(), 0);
}

TEST(LevelGroups, OfOneLevelAreOneAndPadded) {
  const auto pattern = test::clique<I>(50);
  const auto groups = group_levels<I>(pattern.view(), find_levels(pattern.view()), {1 << 20, 32});
  EXPECT_EQ(groups.group_offsets.size(), 2u);
  EXPECT_EQ(groups.order.padded_rows(), 64);
}

TEST(LevelGroups, RefuseOptionsAndLevelsThatDoNotFit) {
  const auto pattern = test::path<I>(10);
  const auto structure = find_levels(pattern.view());
  const auto make = [&](const LevelGroupOptions<I>& options) {
    return group_levels<I>(pattern.view(), structure, options);
  };
  EXPECT_THROW(make({.group_entries = 0}), InvalidArgument);
  EXPECT_THROW(make({.alignment = 0}), InvalidArgument);
  EXPECT_THROW(make({.sort_window = 0}), InvalidArgument);
  EXPECT_THROW(make({.alignment = std::numeric_limits<I>::max()}), OverflowError);
  const auto other = test::path<I>(11);
  EXPECT_THROW(group_levels<I>(other.view(), structure, {}), InvalidArgument);
}

}  // namespace
}  // namespace strata
