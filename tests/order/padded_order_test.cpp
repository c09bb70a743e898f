#include "strata/order/padded_order.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/order/permutation.hpp"
#include "tests/support/by_eigen.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/orders.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

template <class T>
class PaddedOrderTyped : public testing::Test {};
TYPED_TEST_SUITE(PaddedOrderTyped, test::AllTypes);

TYPED_TEST(PaddedOrderTyped, ScatterUndoesGatherAndPaddedRowsAreZero) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const I rows : {0, 1, 17, 6000}) {
    const PaddedOrder<I> order(rows, test::padded_rows<I>(rows, 1));
    EXPECT_EQ(order.rows(), rows);
    EXPECT_FALSE(order.is_identity());
    for (int count = 1; count <= 8; ++count) {
      const auto x = test::random_vector<V>(static_cast<std::size_t>(rows) * count, 2);
      const std::vector<V> rubbish(static_cast<std::size_t>(order.padded_rows()) * count, V{7});
      std::vector<V> moved = rubbish;
      order.template gather<V>(x, moved, count);
      for (I position = 0; position < order.padded_rows(); ++position) {
        for (int v = 0; v < count; ++v) {
          const Offset row = order.row_at(position);
          const V expected = row == PaddedOrder<I>::kEmpty ? V{} : x[row * count + v];
          ASSERT_EQ(moved[Offset{position} * count + v], expected) << "position " << position;
        }
      }
      std::vector<V> back(x.size(), V{7});
      order.template scatter<V>(moved, back, count);
      EXPECT_EQ(back, x) << count << " vectors of " << rows << " rows";
    }
  }
}

// Row by row, entry by entry.
template <Value V, Index I>
Csr<V, I> reordered_naively(const Csr<V, I>& matrix, const PaddedOrder<I>& order) {
  test::Entries<V, I> entries(order.padded_rows(), order.padded_rows(), 0);
  for (I row = 0; row < matrix.rows(); ++row) {
    for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      entries.add(order.position_of(row), order.position_of(matrix.columns()[k]),
                  matrix.values()[k]);
    }
  }
  return entries.coo().to_csr();
}

TYPED_TEST(PaddedOrderTyped, ReorderedMatricesAreThoseOfEigenAndOfEntryByEntryMoves) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> matrix = entries.to_csr();
    const I rows = matrix.rows();
    const PaddedOrder<I> padded(rows, test::padded_rows<I>(rows, 4));
    if (rows != matrix.cols()) {
      EXPECT_THROW(reordered(matrix, padded), InvalidArgument);
      continue;
    }
    const auto permutation = Permutation<I>::random(rows, 3);
    const auto rows_at = permutation.old_of_new();
    const PaddedOrder<I> order(rows, Array<I>(rows_at.begin(), rows_at.end()));
    EXPECT_EQ(reordered(matrix, order), reordered(matrix, permutation));
    EXPECT_EQ(reordered(matrix, order), test::permuted_by_eigen(matrix, permutation));
    EXPECT_EQ(reordered(matrix, padded), reordered_naively(matrix, padded));
    EXPECT_EQ(reordered(matrix, PaddedOrder<I>::identity(rows)), matrix);
  }
}

using I = std::int32_t;
using Order = PaddedOrder<I>;
constexpr I kEmpty = Order::kEmpty;

TEST(PaddedOrder, ReorderedRowsAreThoseOfTheReorderedMatrix) {
  test::Entries<double, I> entries(200, 200, 1);
  for (int k = 0; k < 2000; ++k) entries.add((k * 37) % 200, (k * k + 11 * k) % 200);
  const auto matrix = entries.coo().to_csr();
  const Order order(200, test::padded_rows<I>(200, 6));
  const auto all = reordered(matrix, order);
  const std::vector<RowRange<I>> ranges{{150, 160}, {3, 3}, {0, 50}};
  const auto some = reordered_rows<double, I>(matrix, order, ranges);
  ASSERT_EQ(some.rows(), 60);
  EXPECT_EQ(some.cols(), order.padded_rows());
  for (I i = 0; i < 60; ++i) {
    const I position = i < 10 ? 150 + i : i - 10;
    const auto expected = all.pattern().columns_of(position);
    ASSERT_TRUE(std::ranges::equal(some.pattern().columns_of(i), expected)) << "row " << i;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      ASSERT_EQ(some.values()[some.row_offsets()[i] + k],
                all.values()[all.row_offsets()[position] + k]);
    }
  }
}

// Rows of all lengths, beyond those from which on they are sorted in another way or their places
// are not kept.
TEST(PaddedOrder, ReadsTheRowsOfTheReorderedMatrix) {
  test::Entries<double, I> entries(300, 300, 1);
  for (I row = 0; row < 280; ++row) {
    for (I k = 0; k < row; ++k) entries.add(row, (k * 7 + row) % 300);
  }
  const auto matrix = entries.coo().to_csr();
  const Order order(300, test::padded_rows<I>(300, 6));
  const auto all = reordered(matrix, order);
  EXPECT_EQ(all, reordered_naively(matrix, order));
  ReorderedRows<double, I> rows(matrix, order);
  RowBlock<double, I> block{.needs_values = false};
  rows.read({30, 90}, block);
  EXPECT_TRUE(block.values.empty());
  block.needs_values = true;
  // Some for the first time, some for the second, some both.
  for (const RowRange<I> range :
       {RowRange<I>{80, 100}, {0, order.padded_rows()}, {0, order.padded_rows()}, {3, 3}}) {
    rows.read(range, block);
    const Offset begin = all.row_offsets()[range.begin];
    const Offset end = all.row_offsets()[range.end];
    EXPECT_TRUE(std::ranges::equal(block.columns, all.columns().subspan(begin, end - begin)));
    EXPECT_TRUE(std::ranges::equal(block.values, all.values().subspan(begin, end - begin)));
    ASSERT_EQ(std::ssize(block.row_offsets), range.end - range.begin + 1);
    for (I i = 0; i <= range.end - range.begin; ++i) {
      EXPECT_EQ(block.row_offsets[i], all.row_offsets()[range.begin + i] - begin);
    }
  }
}

TEST(PaddedOrder, KnowsWhetherItChangesAnything) {
  EXPECT_TRUE(Order().is_identity());
  EXPECT_TRUE(Order::identity(10000).is_identity());
  EXPECT_TRUE(Order(3, {0, 1, 2}).is_identity());
  EXPECT_FALSE(Order(3, {0, 2, 1}).is_identity());
  EXPECT_FALSE(Order(3, {0, 1, 2, kEmpty}).is_identity());
  EXPECT_FALSE(Order(0, {kEmpty}).is_identity());
}

TEST(PaddedOrder, RefusesOrdersThatLoseOrRepeatARow) {
  EXPECT_THROW(Order(2, {0}), InvalidArgument);
  EXPECT_THROW(Order(2, {0, kEmpty}), InvalidArgument);
  EXPECT_THROW(Order(2, {0, 1, 0}), InvalidArgument);
  EXPECT_THROW(Order(2, {0, 2}), InvalidArgument);
  EXPECT_THROW(Order(2, {0, 1, -2}), InvalidArgument);
  // The same where the check runs in parallel.
  for (const int threads : {1, 3}) {
    set_thread_count(threads);
    Array<I> rows = test::padded_rows<I>(20000, 1);
    rows.push_back(19999);
    EXPECT_THROW(Order(20000, std::move(rows)), InvalidArgument);
  }
  set_thread_count(0);
}

TEST(PaddedOrder, RefusesVectorsAndMatricesOfOtherSizes) {
  const Order order(2, {1, kEmpty, 0});
  std::vector<double> two(2), three(3), four(4), six(6);
  EXPECT_THROW(order.gather<double>(three, three, 1), InvalidArgument);
  EXPECT_THROW(order.gather<double>(two, two, 1), InvalidArgument);
  EXPECT_THROW(order.gather<double>(two, three, 2), InvalidArgument);
  EXPECT_THROW(order.scatter<double>(six, two, 2), InvalidArgument);
  EXPECT_NO_THROW(order.scatter<double>(six, four, 2));
  const Csr<double, I> other(3, 3, {0, 0, 0, 0}, {}, {});
  EXPECT_THROW(reordered(other, order), InvalidArgument);
}

}  // namespace
}  // namespace strata
