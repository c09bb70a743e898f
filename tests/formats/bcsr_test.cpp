#include "strata/formats/bcsr.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/format_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

template <class T>
class BcsrTyped : public testing::Test {};
TYPED_TEST_SUITE(BcsrTyped, test::AllTypes);

TYPED_TEST(BcsrTyped, MatchesEigenForAnyBlockSize) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const std::pair<Offset, Offset> sizes[] = {{1, 1}, {2, 2}, {3, 3}, {1, 8},
                                             {5, 1}, {4, 7}, {64, 3}};
  for (const auto& [block_rows, block_cols] : sizes) {
    SCOPED_TRACE(testing::Message() << "blocks of " << block_rows << " x " << block_cols);
    const BcsrOptions options{.block_rows = block_rows, .block_cols = block_cols, .max_fill = 1e9};
    test::expect_format_works<V, I>(
        [&](const Csr<V, I>& csr) { return test::build<Bcsr<V, I>>(csr, options); });
  }
}

using Matrix = Bcsr<double, std::int32_t>;

TEST(Bcsr, CountsItsBytesExactly) {
  // Rows 0 and 1 touch two blocks, row 2 one that sticks out below.
  const Csr<double, std::int32_t> csr(3, 4, {0, 2, 3, 4}, {0, 1, 2, 3}, {1, 2, 3, 4});
  const Footprint footprint = Matrix::footprint_of(csr);
  EXPECT_EQ(footprint.stored_entries, 3 * 4);
  EXPECT_EQ(footprint.value_bytes, 12 * 8);
  EXPECT_EQ(footprint.index_bytes, 3 * 4 + 3 * 8);
  EXPECT_DOUBLE_EQ(footprint.fill(), 3.0);
}

TEST(Bcsr, FullBlocksNeedNoPresenceBits) {
  const Csr<double, std::int32_t> csr(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 0, 3, 4});
  const Matrix bcsr = Matrix::from_csr(csr);
  EXPECT_TRUE(bcsr.presence().words().empty());
  EXPECT_EQ(bcsr.to_csr(), csr);
}

// The block of the last column ends where no index reaches.
TEST(Bcsr, TakesAsManyColumnsAsThereAreIndices) {
  constexpr auto kCols = std::numeric_limits<std::int64_t>::max();
  const Csr<double, std::int64_t> matrix(1, kCols, {0, 3}, {0, kCols - 2, kCols - 1},
                                         {1.0, 2.0, 3.0});
  for (const Offset size : {1, 2, 3, 4}) {
    SCOPED_TRACE(size);
    const auto bcsr = Bcsr<double, std::int64_t>::from_csr(
        matrix, {.block_rows = size, .block_cols = size, .max_fill = 1000});
    EXPECT_EQ(bcsr.to_csr(), matrix);
  }
}

TEST(Bcsr, RefusesBadOptionsAndHopelessFill) {
  const Csr<double, std::int64_t> csr(2, 2, {0, 1, 1}, {0}, {1});
  using Wide = Bcsr<double, std::int64_t>;
  EXPECT_THROW(Wide::from_csr(csr, {.block_rows = 0}), InvalidArgument);
  EXPECT_THROW(Wide::from_csr(csr, {.block_cols = -1}), InvalidArgument);
  EXPECT_THROW(Wide::from_csr(csr, {.block_rows = 8, .block_cols = 8}), InvalidArgument);
  EXPECT_THROW(Wide::from_csr(csr, {.block_rows = Offset{1} << 62, .block_cols = 4}),
               OverflowError);
  EXPECT_THROW(Matrix::from_csr({}, {.block_rows = Offset{1} << 31}), OverflowError);
}

TEST(Bcsr, TakesArraysOfBlocksWhoseNonzerosBecomeTheEntries) {
  const Matrix bcsr(3, 3, 2, 2, {0, 1, 2}, {0, 1}, {1, 2, 0, 4, 5, 0, 0, 0});
  EXPECT_EQ(bcsr.to_csr(),
            (Csr<double, std::int32_t>(3, 3, {0, 2, 3, 4}, {0, 1, 1, 2}, {1, 2, 4, 5})));
  EXPECT_EQ(bcsr.nnz(), 4);
}

TEST(Bcsr, RefusesBadArraysAndNamesTheBlockRow) {
  const auto expect_refused = [](Array<Offset> offsets, Array<std::int32_t> columns,
                                 Array<double> values, const std::string& message) {
    test::expect_invalid([&] { Matrix(3, 3, 2, 2, offsets, columns, values); }, message);
  };
  const Array<double> good{1, 2, 3, 4, 5, 0, 0, 0};
  expect_refused({0, 1, 2}, {0, 2}, good, "block row 1: block column 2 is outside 0 … 1");
  expect_refused({0, 2, 2}, {1, 1}, good,
                 "block row 0: block columns 1 and 1 are not in increasing order");
  expect_refused({0, 2}, {0, 1}, good, "there are 2 block row offsets instead of 3");
  expect_refused({0, 3, 2}, {0, 1}, good, "block row 0: block row offsets decrease");
  expect_refused({0, 1, 2}, {0, 1}, {1, 2, 3}, "there are 3 values instead of 8");
  expect_refused({0, 1, 2}, {0, 1}, {1, 2, 3, 4, 5, 6, 0, 0},
                 "block row 1: a value outside the matrix is not zero");
  expect_refused({0, 1, 2}, {0, 0}, {1, 2, 3, 4, 5, 6, 7, 0},
                 "block row 1: a value outside the matrix is not zero");
  test::expect_invalid([] { Matrix(1, 1, 0, 1, {0}, {}, {}); }, "blocks cannot be 0 x 1");
}

}  // namespace
}  // namespace strata
