#include "tests/gen/gen_check.hpp"

namespace strata {
namespace {

using test::make;
using test::Matrix;

TEST(Arrow, IsOneDenseRowAndColumnAndTheDiagonal) {
  const Matrix matrix = make("arrow:60");
  EXPECT_EQ(matrix.nnz(), 3 * 60 - 2);
  EXPECT_EQ(test::row_length(matrix, 0), 60);
  for (int row = 1; row < 60; ++row) {
    EXPECT_EQ(matrix.pattern().columns_of(row)[0], 0);
    EXPECT_EQ(matrix.pattern().columns_of(row)[1], row);
    EXPECT_EQ(test::row_length(matrix, row), 2);
  }
  EXPECT_EQ(transposed(matrix), matrix);
  EXPECT_GT(test::smallest_eigenvalue(matrix), 0);
  EXPECT_EQ(make("arrow:1").nnz(), 1);
}

}  // namespace
}  // namespace strata
