#include "strata/order/permutation.hpp"

#include <gtest/gtest.h>

#include "strata/base/parallel.hpp"
#include "tests/support/by_eigen.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

template <class T>
class PermutationTyped : public testing::Test {};
TYPED_TEST_SUITE(PermutationTyped, test::AllTypes);

TYPED_TEST(PermutationTyped, ReorderingAMatrixMatchesEigen) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const int threads : {1, 4}) {
    set_thread_count(threads);
    for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
      SCOPED_TRACE(name);
      const auto matrix = entries.to_csr();
      const auto order = Permutation<I>::random(matrix.rows(), 3);
      EXPECT_EQ(reordered_rows(matrix, order), test::permuted_rows_by_eigen(matrix, order));
      if (matrix.rows() != matrix.cols()) {
        EXPECT_THROW(reordered(matrix, order), InvalidArgument);
      } else {
        EXPECT_EQ(reordered(matrix, order), test::permuted_by_eigen(matrix, order));
        EXPECT_EQ(reordered(reordered(matrix, order), order.inverse()), matrix);
      }
    }
    set_thread_count(0);
  }
}

TYPED_TEST(PermutationTyped, VectorsGoThereAndBack) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const auto order = Permutation<I>::random(10000, 1);
  const std::vector<V> x = test::random_vector<V>(10000, 2);
  std::vector<V> moved(10000);
  std::vector<V> back(10000);
  order.template gather<V>(x, moved);
  for (I i = 0; i < order.size(); ++i) ASSERT_EQ(moved[i], x[order.old_of(i)]);
  order.template scatter<V>(moved, back);
  EXPECT_EQ(back, x);
  back.pop_back();
  EXPECT_THROW(order.template gather<V>(x, back), InvalidArgument);
}

using Order = Permutation<std::int32_t>;

TEST(Permutation, ComposesFromLeftToRight) {
  const Order first({2, 0, 1});
  const Order second({1, 0, 2});
  // After `first` position 0 holds 2, position 1 holds 0; `second` swaps these two.
  EXPECT_EQ(first.then(second), Order({0, 2, 1}));
  EXPECT_EQ(first.then(first.inverse()), Order::identity(3));
  EXPECT_THROW(first.then(Order({0})), InvalidArgument);
}

TEST(Permutation, RefusesWhatIsNotOne) {
  EXPECT_THROW(Order({0, 0}), InvalidArgument);
  EXPECT_THROW(Order({0, 2}), InvalidArgument);
  EXPECT_THROW(Order({-1, 0}), InvalidArgument);
  EXPECT_EQ(Order().size(), 0);
}

TEST(Permutation, RandomOrdersDifferBySeedAndMoveAlmostEverything) {
  const auto order = Order::random(1000, 7);
  EXPECT_EQ(order, Order::random(1000, 7));
  EXPECT_NE(order, Order::random(1000, 8));
  int fixed = 0;
  for (int i = 0; i < 1000; ++i) fixed += order.old_of(i) == i;
  EXPECT_LT(fixed, 10);
}

}  // namespace
}  // namespace strata
