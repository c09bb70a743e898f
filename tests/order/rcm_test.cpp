#include "strata/order/rcm.hpp"

#include <gtest/gtest.h>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "tests/support/graphs.hpp"
#include "tests/support/matrices.hpp"

namespace strata {
namespace {

using test::Touching;
using I = std::int32_t;

Offset bandwidth_after(const Pattern<I>& pattern) {
  return bandwidth(test::reordered(pattern, reverse_cuthill_mckee(pattern.view())).view());
}

template <class I>
class RcmTyped : public testing::Test {};
using IndexTypes = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(RcmTyped, IndexTypes);

// That the order is a permutation is checked by Permutation itself.
TYPED_TEST(RcmTyped, OrdersAnyGraphTheSameForAnyNumberOfThreads) {
  for (const auto& [name, pattern] : test::many_graphs<TypeParam>()) {
    SCOPED_TRACE(name);
    set_thread_count(1);
    const auto serial = reverse_cuthill_mckee(pattern.view());
    EXPECT_EQ(serial.size(), pattern.rows);
    for (const int threads : {2, 5}) {
      set_thread_count(threads);
      EXPECT_EQ(reverse_cuthill_mckee(pattern.view()), serial) << threads << " threads";
    }
    set_thread_count(0);
  }
}

TYPED_TEST(RcmTyped, OrdersAwkwardMatricesIfTheyAreSquare) {
  for (const auto& [name, entries] : test::awkward_matrices<double, TypeParam>()) {
    SCOPED_TRACE(name);
    const auto matrix = entries.to_csr();
    if (matrix.rows() != matrix.cols()) {
      EXPECT_THROW(reverse_cuthill_mckee(matrix.pattern()), InvalidArgument);
    } else {
      EXPECT_EQ(reverse_cuthill_mckee(matrix.pattern()).size(), matrix.rows());
    }
  }
}

TEST(Rcm, RecoversAPath) {
  for (const Offset rows : {2, 3, 10, 1000}) {
    EXPECT_EQ(bandwidth_after(test::shuffled(test::path<I>(rows), 1)), 1);
  }
}

TEST(Rcm, OrdersEachComponentForItself) {
  const auto paths = test::interleaved(test::path<I>(400), test::path<I>(300));
  const auto with_empty_rows = test::interleaved(paths, test::pattern_of<I>(50, {}));
  EXPECT_EQ(bandwidth_after(test::shuffled(with_empty_rows, 2)), 1);
}

TEST(Rcm, RecoversTheBandwidthOfGrids) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    // From a corner the levels are the diagonals, which are no longer than the shorter side.
    EXPECT_LE(bandwidth_after(test::shuffled(test::box<I>(30, 70, 1, Touching::faces), seed)), 31);
    // Where cells touch at corners the levels bend around them, at most twice as long.
    EXPECT_LE(bandwidth_after(test::shuffled(test::box<I>(30, 70, 1, Touching::corners), seed)),
              2 * 31);
    EXPECT_LE(bandwidth_after(test::shuffled(test::box<I>(10, 10, 50, Touching::faces), seed)),
              1.2 * 100);
  }
}

TEST(Rcm, PutsTheCentreOfAStarNextToItsEnd) {
  // A search from a leaf finds the centre second; the last leaf is all others away from it.
  EXPECT_EQ(bandwidth_after(test::shuffled(test::star<I>(100), 1)), 98);
}

TEST(Rcm, NeighboursOfLowDegreeComeFirst) {
  // A path 0 – 1 – … – 9, and row 10, a leaf, at its middle.
  test::Edges edges;
  for (Offset row = 1; row < 10; ++row) edges.emplace_back(row - 1, row);
  edges.emplace_back(5, 10);
  const auto pattern = test::graph_of<I>(11, edges);
  const auto order = reverse_cuthill_mckee(pattern.view());
  const auto position = order.inverse();
  // The leaf comes right before the path's next row, and in the reverse order right after it.
  const bool from_zero = position.old_of(0) > position.old_of(9);
  EXPECT_EQ(position.old_of(10) - position.old_of(from_zero ? 6 : 4), 1);
}

TEST(Bandwidth, IsTheLargestDistanceFromTheDiagonal) {
  EXPECT_EQ(bandwidth(test::pattern_of<I>(0, {}).view()), 0);
  EXPECT_EQ(bandwidth(test::pattern_of<I>(9, {}).view()), 0);
  EXPECT_EQ(bandwidth(test::pattern_of<I>(9, {{2, 2}}).view()), 0);
  EXPECT_EQ(bandwidth(test::pattern_of<I>(9, {{2, 2}, {7, 1}}).view()), 6);
  EXPECT_EQ(bandwidth(test::pattern_of<I>(9, {{0, 8}, {7, 1}}).view()), 8);
}

}  // namespace
}  // namespace strata
