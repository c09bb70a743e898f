#include <algorithm>
#include <cmath>

#include "tests/gen/gen_check.hpp"

namespace strata {
namespace {

using test::make;
using test::Matrix;

double mean_row_length(const Matrix& matrix) {
  return static_cast<double>(matrix.nnz()) / matrix.rows();
}

TEST(Mesh, HasExactlyNPointsAndAboutKEntriesPerRow) {
  for (const auto& [spec, points, per_row] :
       {std::tuple{"mesh:40000,dim=2,nnzr=7", 40000, 7.0},
        {"mesh:39877,dim=2,nnzr=9,aspect=1x5", 39877, 9.0},
        {"mesh:30000,dim=3,nnzr=15", 30000, 15.0},
        {"mesh:20000,dim=3,nnzr=27,aspect=1x1x8", 20000, 27.0},
        {"mesh:20000,dim=3,nnzr=2", 20000, 2.0},
        {"mesh:300,dim=2,nnzr=200", 300, 200.0}}) {
    const Matrix matrix = make(spec);
    EXPECT_EQ(matrix.rows(), points) << spec;
    EXPECT_NEAR(mean_row_length(matrix) / per_row, 1, 0.03) << spec;
  }
}

TEST(Mesh, RowsAreIrregularAndThePatternSymmetric) {
  const Matrix matrix = make("mesh:5000,dim=3,nnzr=20");
  EXPECT_EQ(transposed(matrix), matrix);
  Offset shortest = matrix.rows();
  Offset longest = 0;
  for (int row = 0; row < matrix.rows(); ++row) {
    shortest = std::min(shortest, test::row_length(matrix, row));
    longest = std::max(longest, test::row_length(matrix, row));
  }
  EXPECT_LT(shortest, 12);
  EXPECT_GT(longest, 26);
}

TEST(Mesh, IsPositiveDefiniteWithARowSumOfOne64th) {
  const Matrix matrix = make("mesh:300,dim=2,nnzr=7");
  const Eigen::MatrixXd all = test::dense(matrix);
  EXPECT_GT(test::smallest_eigenvalue(matrix), 0.015);
  EXPECT_LT((all.rowwise().sum().array() - 1.0 / 64).abs().maxCoeff(), 1e-13);
}

TEST(Mesh, DofMakesDenseBlocks) {
  const Matrix points = make("mesh:300,dim=3,nnzr=10,aspect=1x1x4");
  const Matrix blocks = make("mesh:300,dim=3,nnzr=10,aspect=1x1x4,dof=3");
  EXPECT_EQ(blocks.nnz(), 9 * points.nnz());
  EXPECT_EQ(transposed(blocks), blocks);
  const Eigen::MatrixXd few = test::dense(points);
  const Eigen::MatrixXd many = test::dense(blocks);
  EXPECT_EQ(few(10, 10), many(30, 30));
  EXPECT_EQ(few(10, 10) / 2, many(30, 31));
}

TEST(Mesh, AspectStretchesTheBox) {
  // Points are numbered with the last direction slowest, so a long box has a small bandwidth.
  const auto bandwidth = [](const Matrix& matrix) {
    std::int32_t widest = 0;
    for (int row = 0; row < matrix.rows(); ++row) {
      widest = std::max(widest, matrix.pattern().columns_of(row).back() - row);
    }
    return widest;
  };
  // 20 x 20 x 20 cells against 10 x 10 x 80, and against 80 x 10 x 10.
  const auto cube = bandwidth(make("mesh:8000,dim=3,nnzr=15"));
  EXPECT_LT(bandwidth(make("mesh:8000,dim=3,nnzr=15,aspect=1x1x8")), 0.4 * cube);
  EXPECT_GT(bandwidth(make("mesh:8000,dim=3,nnzr=15,aspect=8x1x1")), 1.5 * cube);
}

TEST(Mesh, SmallestAndDensestMeshesWork) {
  EXPECT_EQ(make("mesh:1,dim=3,nnzr=1").nnz(), 1);
  EXPECT_EQ(make("mesh:2,dim=2,nnzr=2").nnz(), 4);
  EXPECT_EQ(make("mesh:50,dim=3,nnzr=50").nnz(), 2500);
  EXPECT_EQ(make("mesh:10,dim=2,nnzr=1,aspect=1000000000000x1").rows(), 10);
}

TEST(Mesh, RefusesWrongDimensionsAndTooManyNeighbours) {
  EXPECT_THROW(make("mesh:10,dim=4,nnzr=3"), InvalidArgument);
  EXPECT_THROW(make("mesh:10,nnzr=3"), InvalidArgument);
  EXPECT_THROW(make("mesh:10,dim=2"), InvalidArgument);
  EXPECT_THROW(make("mesh:10,dim=2,nnzr=11"), InvalidArgument);
  EXPECT_THROW(make("mesh:10,dim=2,nnzr=3,aspect=1x1x1"), InvalidArgument);
  EXPECT_THROW(make("mesh:10,dim=3,nnzr=3,aspect=1x0x1"), InvalidArgument);
}

}  // namespace
}  // namespace strata
