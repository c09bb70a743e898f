#include "tests/gen/gen_check.hpp"

namespace strata {
namespace {

using test::make;
using test::Matrix;

// W diagonals of a matrix of order n lose 2 (1 + 2 + … + (W − 1)/2) entries.
Offset entries_of(Offset n, Offset width) {
  const Offset dependency_distance = width / 2;
  return n * width - dependency_distance * (dependency_distance + 1);
}

TEST(Band, HasTheDiagonalsAroundTheMainOne) {
  const Matrix matrix = make("band:100,width=7");
  EXPECT_EQ(matrix.nnz(), entries_of(100, 7));
  for (std::int32_t row = 0; row < 100; ++row) {
    for (const std::int32_t column : matrix.pattern().columns_of(row)) {
      EXPECT_LE(std::abs(row - column), 3);
    }
  }
  EXPECT_EQ(make("band:100,width=1").nnz(), 100);
  EXPECT_EQ(make("band:4,width=7").nnz(), 16);
}

TEST(Band, IsSymmetricAndDiagonallyDominantWithValuesThatDiffer) {
  const Matrix matrix = make("band:50,width=9");
  const Eigen::MatrixXd all = test::dense(matrix);
  EXPECT_EQ(all, all.transpose());
  for (Eigen::Index i = 0; i < all.rows(); ++i) EXPECT_GT(all.row(i).sum(), 0);
  EXPECT_NE(all(3, 4), all(4, 5));
  EXPECT_NE(all(3, 4), test::dense(make("band:50,width=9,seed=2"))(3, 4));
}

TEST(Band, TwentySevenDiagonalsHaveTheKnownCounts) {
  EXPECT_EQ(entries_of(16777216, 7), 117440500);
  const auto matrix = generate<float, std::int32_t>("band:4194304,width=27");
  EXPECT_EQ(matrix.rows(), 4194304);
  EXPECT_EQ(matrix.nnz(), 113246026);
}

TEST(Band, WidthIsOddAndFits) {
  EXPECT_THROW(make("band:10,width=4"), InvalidArgument);
  EXPECT_THROW(make("band:10,width=21"), InvalidArgument);
  EXPECT_THROW(make("band:10,width=-1"), InvalidArgument);
  EXPECT_THROW(make("band:10"), InvalidArgument);
}

}  // namespace
}  // namespace strata
