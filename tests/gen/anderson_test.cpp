#include "tests/gen/gen_check.hpp"

namespace strata {
namespace {

using test::make;
using test::Matrix;

TEST(Anderson, HopsByMinusOneOnTheSevenPointPattern) {
  const Matrix matrix = make("anderson:6x5x4");
  const Matrix stencil = make("stencil7:6x5x4");
  EXPECT_EQ(Eigen::MatrixXd(test::dense(matrix) -
                            Eigen::MatrixXd(test::dense(matrix).diagonal().asDiagonal())),
            Eigen::MatrixXd(test::dense(stencil) - 6 * Eigen::MatrixXd::Identity(120, 120)));
  EXPECT_EQ(matrix.nnz(), stencil.nnz());
}

TEST(Anderson, PotentialFillsTheIntervalOfTheDisorder) {
  for (const auto& [spec, width] :
       {std::pair{"anderson:12x12x12", 16.5}, {"anderson:12x12x12,disorder=3.25,seed=4", 3.25}}) {
    const Eigen::VectorXd potential = test::dense(make(spec)).diagonal();
    EXPECT_LE(potential.maxCoeff(), width / 2);
    EXPECT_GE(potential.minCoeff(), -width / 2);
    EXPECT_GT(potential.maxCoeff(), 0.49 * width);
    EXPECT_LT(potential.minCoeff(), -0.49 * width);
    EXPECT_NEAR(potential.mean(), 0, 0.03 * width);
  }
}

TEST(Anderson, DiagonalIsStoredEvenWithoutDisorder) {
  EXPECT_EQ(make("anderson:3x3x3,disorder=0").nnz(), make("stencil7:3x3x3").nnz());
  EXPECT_THROW(make("anderson:3x3x3,disorder=-1"), InvalidArgument);
}

}  // namespace
}  // namespace strata
