#include "strata/order/symmetrise.hpp"

#include <gtest/gtest.h>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "tests/support/graphs.hpp"
#include "tests/support/matrices.hpp"

namespace strata {
namespace {

template <Index I>
void expect_sum_with_transpose(const Pattern<I>& pattern) {
  test::Edges entries = test::entries_of(pattern);
  test::Edges both = entries;
  for (const auto& [row, column] : entries) both.emplace_back(column, row);
  const auto expected = test::pattern_of<I>(pattern.rows, both);
  const SymmetrisedPattern<I> symmetrised(pattern.view());
  EXPECT_TRUE(std::ranges::equal(symmetrised.view().row_offsets, expected.row_offsets));
  EXPECT_TRUE(std::ranges::equal(symmetrised.view().columns, expected.columns));
  EXPECT_EQ(has_symmetric_pattern(pattern.view()), pattern == expected);
  EXPECT_TRUE(has_symmetric_pattern(symmetrised.view()));
}

TEST(Symmetrise, IsTheUnionWithTheTransposeForAnyNumberOfThreads) {
  for (const auto& [name, pattern] : test::many_graphs<std::int32_t>()) {
    SCOPED_TRACE(name);
    for (const int threads : {1, 2, 5}) {
      set_thread_count(threads);
      expect_sum_with_transpose(pattern);
    }
    set_thread_count(0);
  }
}

TEST(Symmetrise, WorksOnAwkwardMatrices) {
  for (const auto& [name, entries] : test::awkward_matrices<float, std::int64_t>()) {
    SCOPED_TRACE(name);
    const auto matrix = entries.to_csr();
    if (matrix.rows() != matrix.cols()) {
      EXPECT_FALSE(has_symmetric_pattern(matrix.pattern()));
      EXPECT_THROW(SymmetrisedPattern<std::int64_t>(matrix.pattern()), InvalidArgument);
    } else {
      Pattern<std::int64_t> pattern{matrix.rows(), matrix.cols(), {}, {}};
      pattern.row_offsets.assign(matrix.row_offsets().begin(), matrix.row_offsets().end());
      pattern.columns.assign(matrix.columns().begin(), matrix.columns().end());
      expect_sum_with_transpose(pattern);
    }
  }
}

TEST(Symmetrise, BorrowsASymmetricPattern) {
  const auto pattern = test::path<std::int32_t>(100);
  const SymmetrisedPattern<std::int32_t> symmetrised(pattern.view());
  EXPECT_EQ(symmetrised.view().columns.data(), pattern.columns.data());
}

TEST(Symmetrise, SeesThatOneEntryHasNoMirrorImage) {
  auto entries = test::entries_of(test::path<std::int32_t>(10000));
  entries.emplace_back(5000, 10);
  EXPECT_FALSE(has_symmetric_pattern(test::pattern_of<std::int32_t>(10000, entries).view()));
  entries.back() = {10, 5000};
  EXPECT_FALSE(has_symmetric_pattern(test::pattern_of<std::int32_t>(10000, entries).view()));
}

}  // namespace
}  // namespace strata
