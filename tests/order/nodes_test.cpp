#include "strata/order/internal/nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "strata/order/levels.hpp"
#include "tests/support/graphs.hpp"

namespace strata::detail {
namespace {

using I = std::int32_t;

// A dense block of `unknowns` for every entry.
Pattern<I> with_unknowns(const Pattern<I>& pattern, Offset unknowns) {
  test::Edges entries;
  for (const auto& [row, column] : test::entries_of(pattern)) {
    for (Offset a = 0; a < unknowns; ++a) {
      for (Offset b = 0; b < unknowns; ++b) {
        entries.emplace_back(row * unknowns + a, column * unknowns + b);
      }
    }
  }
  return test::pattern_of<I>(pattern.rows * unknowns, std::move(entries));
}

// Rows of a node have the same columns, and every entry is one of the nodes.
void expect_nodes_of(const Pattern<I>& pattern) {
  const Nodes<I> nodes(pattern.view());
  std::vector<I> node_of(pattern.rows, -1);
  for (I node = 0; node < nodes.count(); ++node) {
    std::vector<I> rows(nodes.rows_of(node));
    EXPECT_EQ(nodes.write_rows(node, rows.data()), rows.data() + rows.size());
    EXPECT_TRUE(std::ranges::is_sorted(rows));
    ASSERT_FALSE(rows.empty());
    EXPECT_EQ(rows.front(), nodes.first_row(node));
    for (const I row : rows) {
      EXPECT_EQ(node_of[row], -1) << "row " << row << " is in two nodes";
      node_of[row] = node;
      EXPECT_TRUE(std::ranges::equal(pattern.view().columns_of(row),
                                     pattern.view().columns_of(rows.front())));
    }
  }
  EXPECT_EQ(std::ranges::count(node_of, -1), 0);
  for (const auto& [row, column] : test::entries_of(pattern)) {
    const auto touched = nodes.view().columns_of(node_of[row]);
    EXPECT_TRUE(std::ranges::is_sorted(touched, std::ranges::less_equal{}));
    ASSERT_TRUE(std::ranges::binary_search(touched, node_of[column]))
        << "entry " << row << ", " << column;
  }
}

TEST(Nodes, HoldEveryRowOnceAndTouchWhatTheirRowsTouch) {
  for (const auto& [name, pattern] : test::many_graphs<I>()) {
    SCOPED_TRACE(name);
    expect_nodes_of(pattern);
    if (pattern.rows <= 1000) expect_nodes_of(test::shuffled(with_unknowns(pattern, 2), 1));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Nodes, AreTheUnknownsOfAPoint) {
  const auto box = test::box<I>(6, 7, 8, test::Touching::faces);
  for (const Offset unknowns : {2, 3, 5}) {
    const auto pattern = with_unknowns(box, unknowns);
    for (const Pattern<I>& some : {pattern, test::shuffled(pattern, 1)}) {
      const Nodes<I> nodes(some.view());
      EXPECT_EQ(nodes.count(), box.rows);
      EXPECT_EQ(nodes.view().entries(), box.view().entries());
    }
  }
}

TEST(Nodes, AreTheRowsWhereFewAreAlike) {
  const auto box = test::box<I>(6, 7, 8, test::Touching::faces);
  const Nodes<I> nodes(box.view());
  EXPECT_EQ(nodes.view().columns.data(), box.columns.data());
}

// Rows 0 and 1 are a node and so are 2 and 3, but row 4 touches one row of each: its first row of
// the one, and not of the other.
TEST(Nodes, ColumnsThatComeWithoutTheOthersAreSeen) {
  const auto pattern = test::pattern_of<I>(
      5, {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 2}, {2, 3}, {3, 2}, {3, 3}, {4, 0}, {4, 3}, {4, 4}});
  ASSERT_EQ(Nodes<I>(pattern.view()).count(), 3);
  expect_nodes_of(pattern);
  EXPECT_NO_THROW(require_levels(pattern.view(), find_levels(pattern.view())));
}

// Rows without a diagonal, of which the second is the first that others find.
TEST(Nodes, OfRowsWithoutADiagonal) {
  expect_nodes_of(test::pattern_of<I>(3, {{0, 1}, {1, 1}, {2, 1}}));
  expect_nodes_of(test::pattern_of<I>(4, {{0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 2}}));
}

}  // namespace
}  // namespace strata::detail
