#include "strata/order/internal/patches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "strata/base/parallel.hpp"
#include "tests/support/graphs.hpp"

namespace strata::detail {
namespace {

using I = std::int32_t;

Layers<I> levels_from_first_vertex(const PatternView<I>& graph) {
  BreadthFirst<I> search(graph);
  const I start = 0;
  Layers<I> levels;
  search.search({0, graph.rows}, std::span(&start, 1), levels);
  return levels;
}

TEST(Patches, KeepEveryVertexInItsLevelForAnyNumberOfThreads) {
  for (const auto& pattern :
       {test::shuffled(test::box<I>(12, 13, 14, test::Touching::corners), 1),
        test::shuffled(test::box<I>(30, 30, 30, test::Touching::faces), 2),
        test::random_tree<I>(5000, 3), test::star<I>(300), test::path<I>(50)}) {
    for (const I size : {1, 7, 64, 100000}) {
      const Layers<I> before = levels_from_first_vertex(pattern.view());
      Layers<I> serial = before;
      set_thread_count(1);
      arrange_in_patches<I>(pattern.view(), {0, pattern.rows}, size, serial);
      set_thread_count(5);
      Layers<I> after = before;
      arrange_in_patches<I>(pattern.view(), {0, pattern.rows}, size, after);
      set_thread_count(0);
      EXPECT_EQ(after.order, serial.order);
      ASSERT_EQ(after.offsets, before.offsets);
      for (I l = 0; l < before.count(); ++l) {
        const std::multiset<I> had(before.level(l).begin(), before.level(l).end());
        const std::multiset<I> has(after.level(l).begin(), after.level(l).end());
        ASSERT_EQ(had, has) << "level " << l;
      }
      if (size == 1) {
        EXPECT_EQ(after.order, before.order);
      }
    }
  }
}

// Columns of each 16 rows of a square, which is all one level: lines have 3 · 18, patches of 4 × 4
// would have 6 · 6.
TEST(Patches, HaveFewerNeighboursThanLines) {
  const auto square = test::box<I>(32, 32, 1, test::Touching::corners);
  Layers<I> levels;
  levels.order.resize(square.rows);
  std::iota(levels.order.begin(), levels.order.end(), I{0});
  levels.offsets = {0, square.rows};
  const auto columns = [&] {
    std::size_t sum = 0;
    for (I begin = 0; begin < square.rows; begin += 16) {
      std::set<I> touched;
      for (I i = begin; i < begin + 16; ++i) {
        const auto of_row = square.view().columns_of(levels.order[i]);
        touched.insert(of_row.begin(), of_row.end());
      }
      sum += touched.size();
    }
    return sum;
  };
  const std::size_t of_lines = columns();
  arrange_in_patches<I>(square.view(), {0, square.rows}, 16, levels);
  EXPECT_LT(static_cast<double>(columns()), 0.9 * static_cast<double>(of_lines));
}

TEST(Patches, OfLinesAreNone) {
  const auto square = test::shuffled(test::box<I>(40, 40, 1, test::Touching::faces), 1);
  Layers<I> levels = levels_from_first_vertex(square.view());
  const Array<I> before = levels.order;
  arrange_in_patches<I>(square.view(), {0, square.rows}, 16, levels);
  EXPECT_EQ(levels.order, before);
}

// Vertices of a component that is not the first one.
TEST(Patches, AreThoseOfTheComponent) {
  const auto both =
      test::interleaved(test::path<I>(10), test::box<I>(9, 9, 9, test::Touching::corners));
  BreadthFirst<I> search(both.view());
  const I start = 10;
  Layers<I> levels;
  search.search({10, both.rows}, std::span(&start, 1), levels);
  arrange_in_patches<I>(both.view(), {10, both.rows}, 8, levels);
  Array<I> sorted = levels.order;
  std::ranges::sort(sorted);
  for (I i = 0; i < static_cast<I>(sorted.size()); ++i) EXPECT_EQ(sorted[i], i + 10);
}

}  // namespace
}  // namespace strata::detail
