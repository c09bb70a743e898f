#include <cmath>

#include "tests/gen/gen_check.hpp"

namespace strata {
namespace {

using test::make;
using test::Matrix;

TEST(Stencil, FivePointsAreTheLaplacianOfARectangle) {
  EXPECT_EQ(make("stencil5:3x2"),
            Matrix(6, 6, {0, 3, 7, 10, 13, 17, 20},
                   {0, 1, 3, 0, 1, 2, 4, 1, 2, 5, 0, 3, 4, 1, 3, 4, 5, 2, 4, 5},
                   {4, -1, -1, -1, 4, -1, -1, -1, 4, -1, -1, 4, -1, -1, -1, 4, -1, -1, -1, 4}));
}

TEST(Stencil, CountsFollowTheBox) {
  // Links along x: (3 nx − 2) entries per line, and so on.
  const Offset nx = 7;
  const Offset ny = 6;
  const Offset nz = 5;
  EXPECT_EQ(make("stencil5:7x6").nnz(), 5 * nx * ny - 2 * (nx + ny));
  EXPECT_EQ(make("stencil7:7x6x5").nnz(), 7 * nx * ny * nz - 2 * (nx * ny + ny * nz + nz * nx));
  EXPECT_EQ(make("stencil9:7x6").nnz(), (3 * nx - 2) * (3 * ny - 2));
  EXPECT_EQ(make("stencil27:7x6x5").nnz(), (3 * nx - 2) * (3 * ny - 2) * (3 * nz - 2));
  EXPECT_EQ(make("stencil27:1x1x1").nnz(), 1);
}

TEST(Stencil, HasTheEigenvaluesOfTheLaplacian) {
  // The smallest one of each line is 2 − 2 cos(π / (n + 1)).
  const auto line = [](int n) { return 2 - 2 * std::cos(M_PI / (n + 1)); };
  EXPECT_NEAR(test::smallest_eigenvalue(make("stencil7:4x5x6")), line(4) + line(5) + line(6),
              1e-12);
}

TEST(Stencil, FullNeighbourhoodsSumToZeroInside) {
  for (const char* spec : {"stencil9:5x5", "stencil27:5x5x5"}) {
    const Eigen::MatrixXd matrix = test::dense(make(spec));
    EXPECT_EQ(matrix, matrix.transpose());
    EXPECT_EQ(matrix.row(matrix.rows() / 2).sum(), 0) << spec;
    EXPECT_GT(matrix.row(0).sum(), 0) << spec;
    EXPECT_GT(test::smallest_eigenvalue(make(spec)), 0) << spec;
  }
}

TEST(Stencil, DofMakesAFullSymmetricPositiveBlockOfEveryLink) {
  const Matrix scalar = make("stencil27:3x4x2");
  const Matrix blocks = make("stencil27:3x4x2,dof=3");
  EXPECT_EQ(blocks.rows(), 3 * scalar.rows());
  EXPECT_EQ(blocks.nnz(), 9 * scalar.nnz());
  const Eigen::Matrix3d coupling{
      {1, 1.0 / 2, 1.0 / 3}, {1.0 / 2, 1, 1.0 / 2}, {1.0 / 3, 1.0 / 2, 1}};
  const Eigen::MatrixXd points = test::dense(scalar);
  const Eigen::MatrixXd all = test::dense(blocks);
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    for (Eigen::Index j = 0; j < points.cols(); ++j) {
      EXPECT_TRUE((all.block<3, 3>(3 * i, 3 * j).isApprox(points(i, j) * coupling)));
    }
  }
  EXPECT_EQ(all, all.transpose());
  EXPECT_GT(test::smallest_eigenvalue(blocks), 0);
  for (const double value : blocks.values()) EXPECT_NE(value, 0);
}

TEST(Stencil, HpcgIsThe27PointOperator) {
  EXPECT_EQ(make("hpcg:4x5x6"), make("stencil27:4x5x6"));
  const Eigen::MatrixXd matrix = test::dense(make("hpcg:3x3x3"));
  EXPECT_EQ(matrix(13, 13), 26);
  EXPECT_EQ(matrix.row(13).minCoeff(), -1);
}

// The sizes of table 4.3 in M. Panzlaff: Matrix Power Kernels on GPUs, Erlangen 2024.

TEST(Stencil, SevenPointsOn256CubedHaveTheKnownCounts) {
  const auto matrix = generate<float, std::int32_t>("stencil7:256x256x256");
  EXPECT_EQ(matrix.rows(), 16777216);
  EXPECT_EQ(matrix.nnz(), 117047296);
}

TEST(Stencil, TwentySevenPointsHaveTheKnownCounts) {
  const auto matrix = generate<float, std::int32_t>("stencil27:128x128x256");
  EXPECT_EQ(matrix.rows(), 4194304);
  EXPECT_EQ(matrix.nnz(), 111777784);
}

TEST(Stencil, HpcgOn128CubedHasTheKnownCounts) {
  const auto matrix = generate<float, std::int32_t>("hpcg:128x128x128");
  EXPECT_EQ(matrix.rows(), 2097152);
  EXPECT_EQ(matrix.nnz(), 55742968);
}

}  // namespace
}  // namespace strata
