#include "tests/gen/gen_check.hpp"

namespace strata {
namespace {

using test::make;
using test::Matrix;

TEST(RandomMatrix, HasExactlyKEntriesInEveryRow) {
  for (const int per_row : {1, 7, 50, 51, 99, 100}) {
    const Matrix matrix = make("random:100,nnzr=" + std::to_string(per_row));
    for (int row = 0; row < 100; ++row) ASSERT_EQ(test::row_length(matrix, row), per_row);
  }
}

TEST(RandomMatrix, AllColumnsAreEquallyLikely) {
  for (const int per_row : {20, 80}) {
    const Matrix matrix = make("random:100,nnzr=" + std::to_string(per_row));
    const Matrix columns = transposed(matrix);
    for (int column = 0; column < 100; ++column) {
      EXPECT_NEAR(static_cast<double>(test::row_length(columns, column)), per_row, 20);  // 5 σ
    }
  }
}

TEST(RandomMatrix, ValuesFillMinusOneToOne) {
  const Eigen::MatrixXd all = test::dense(make("random:100,nnzr=100"));
  EXPECT_GT(all.maxCoeff(), 0.99);
  EXPECT_LT(all.minCoeff(), -0.99);
  EXPECT_NEAR(all.mean(), 0, 0.03);
}

TEST(RandomMatrix, RefusesMoreEntriesThanColumns) {
  EXPECT_THROW(make("random:10,nnzr=11"), InvalidArgument);
  EXPECT_THROW(make("random:10,nnzr=0"), InvalidArgument);
}

}  // namespace
}  // namespace strata
