#include "strata/formats/blocked_coo.hpp"

#include <gtest/gtest.h>

#include "strata/gen/generate.hpp"
#include "tests/support/format_check.hpp"

namespace strata {
namespace {

using Matrix = BlockedCoo<double, std::int32_t>;
using test::copied;

// Two rows of blocks; the last blocks are cut off by the end of the matrix.
Csr<double, std::int32_t> three_rows() {
  return {3, 5, {0, 3, 3, 5}, {0, 1, 4, 1, 2}, {1, 2, 3, 4, 5}};
}
constexpr BlockedCooOptions kTwoByTwo{.block_rows = 2, .block_cols = 2};

TEST(BlockedCoo, StoresOneBlockAfterTheOther) {
  const Matrix blocked = Matrix::from_csr(three_rows(), kTwoByTwo);
  EXPECT_EQ(blocked.blocks_down(), 2);
  EXPECT_EQ(blocked.blocks_across(), 3);
  EXPECT_EQ(copied(blocked.block_offsets()), (std::vector<Offset>{0, 2, 2, 3, 4, 5, 5}));
  EXPECT_EQ(copied(blocked.row_indices()), (std::vector<std::uint16_t>{0, 0, 0, 0, 0}));
  EXPECT_EQ(copied(blocked.column_indices()), (std::vector<std::uint16_t>{0, 1, 0, 1, 0}));
  EXPECT_EQ(copied(blocked.values()), (std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_EQ(blocked.to_csr(), three_rows());
}

TEST(BlockedCoo, CountsItsBytesExactly) {
  const Footprint footprint = Matrix::footprint_of(three_rows(), kTwoByTwo);
  EXPECT_EQ(footprint.value_bytes, 5 * 8);
  EXPECT_EQ(footprint.index_bytes, 5 * (2 + 2) + 7 * 8);
  EXPECT_EQ(footprint, Matrix::from_csr(three_rows(), kTwoByTwo).footprint());
}

TEST(BlockedCoo, TheLargestBlocksUseEveryNumberOfTwoBytes) {
  const auto large = generate<double, std::int32_t>("random:70000,nnzr=3");
  const Matrix blocked = Matrix::from_csr(large);
  EXPECT_EQ(blocked.blocks_down(), 2);
  EXPECT_EQ(blocked.blocks_across(), 5);
  EXPECT_EQ(blocked.to_csr(), large);
}

TEST(BlockedCoo, OtherSizesAreRefused) {
  EXPECT_THROW(Matrix::from_csr(three_rows(), {.block_rows = 0}), InvalidArgument);
  EXPECT_THROW(Matrix::from_csr(three_rows(), {.block_cols = 65537}), InvalidArgument);
  EXPECT_THROW(Matrix::footprint_of(three_rows(), {.block_rows = 65537}), InvalidArgument);
}

}  // namespace
}  // namespace strata
