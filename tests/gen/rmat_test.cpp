#include <cmath>
#include <numeric>

#include "tests/gen/gen_check.hpp"

namespace strata {
namespace {

using test::make;
using test::Matrix;

TEST(Rmat, MergesDuplicates) {
  const Matrix matrix = make("rmat:10,edges=16");
  EXPECT_EQ(matrix.rows(), 1024);
  EXPECT_LT(matrix.nnz(), 16 * 1024);
  EXPECT_GT(matrix.nnz(), 8 * 1024);
  // The most frequent edge weighs many times a single one, which weighs less than 1.5.
  EXPECT_GT(matrix.values()[0], 10);
  // The mean weight is 1: together the entries weigh as much as there are edges.
  const double sum = std::accumulate(matrix.values().begin(), matrix.values().end(), 0.0);
  EXPECT_NEAR(sum / (16 * 1024), 1, 0.05);
}

TEST(Rmat, QuartersHaveTheProbabilitiesOfTheModel) {
  // With one level, 0.57, 0.19, 0.19, 0.05 of the edges; the weights are divided out below.
  const Eigen::MatrixXd all = test::dense(make("rmat:1,edges=100000"));
  const double edges = 200000;
  for (const auto& [row, column, probability] :
       {std::tuple{0, 0, 0.57}, {0, 1, 0.19}, {1, 0, 0.19}, {1, 1, 0.05}}) {
    EXPECT_GT(all(row, column), 0.49 * probability * edges);
    EXPECT_LT(all(row, column), 1.51 * probability * edges);
  }
  // Over many levels the weights average out: the first half of the rows has 0.76 of the edges.
  const Matrix large = make("rmat:14,edges=8");
  double upper = 0;
  double left = 0;
  double total = 0;
  for (std::int32_t row = 0; row < large.rows(); ++row) {
    for (Offset k = large.row_offsets()[row]; k < large.row_offsets()[row + 1]; ++k) {
      total += large.values()[k];
      if (row < large.rows() / 2) upper += large.values()[k];
      if (large.columns()[k] < large.rows() / 2) left += large.values()[k];
    }
  }
  EXPECT_NEAR(upper / total, 0.76, 0.02);
  EXPECT_NEAR(left / total, 0.76, 0.02);
}

TEST(Rmat, DegreesAreSkewed) {
  const Matrix matrix = make("rmat:14,edges=16");
  Offset longest = 0;
  Offset empty = 0;
  for (std::int32_t row = 0; row < matrix.rows(); ++row) {
    longest = std::max(longest, test::row_length(matrix, row));
    empty += test::row_length(matrix, row) == 0;
  }
  EXPECT_GT(longest, 50 * 16);
  EXPECT_GT(empty, matrix.rows() / 10);
}

TEST(Rmat, RefusesScalesThatDoNotFit) {
  EXPECT_THROW(make("rmat:31,edges=1"), OverflowError);
  EXPECT_THROW(make("rmat:63,edges=1"), InvalidArgument);
  EXPECT_THROW(make("rmat:0,edges=1"), InvalidArgument);
  EXPECT_THROW((generate<double, std::int64_t>("rmat:60,edges=1000")), OverflowError);
}

}  // namespace
}  // namespace strata
