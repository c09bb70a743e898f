#include "strata/hpcg/multigrid.hpp"

#include <cmath>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"
#include "strata/hpcg/levels.hpp"
#include "strata/hpcg/reference.hpp"
#include "tests/support/dense_by_eigen.hpp"

namespace strata::hpcg {
namespace {

using Vector = std::vector<double>;

Vector random_vector(std::size_t size, std::uint64_t stream) {
  const Random random(3, stream);
  Vector numbers(size);
  for (std::size_t i = 0; i < size; ++i) numbers[i] = random.uniform(i, -1, 1);
  return numbers;
}

// The V-cycle as matrices say it, with rows and columns in the order of the colours.

// M = (D + L)D⁻¹(D + U) of the rows in the order of their colours: symmetric Gauss–Seidel is x +
// M⁻¹ (b − Ax).
Eigen::MatrixXd inverse_of_sweep(const Eigen::MatrixXd& a,
                                 const std::vector<std::uint8_t>& colours) {
  Eigen::MatrixXd lower = a, upper = a;
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < a.cols(); ++j) {
      if (i == j) continue;
      const bool before = colours[j] < colours[i];
      (before ? upper : lower)(i, j) = 0;
    }
  }
  const Eigen::MatrixXd scaled = a.diagonal().cwiseInverse().asDiagonal() * upper;
  return test::inverse(test::product(lower, scaled));
}

Eigen::MatrixXd cycle_of(std::span<const Level> levels) {
  const Eigen::MatrixXd a = test::dense(levels[0].matrix);
  const Eigen::MatrixXd smoother = inverse_of_sweep(a, colours_of(levels[0].grid));
  if (levels.size() == 1) return smoother;
  const Eigen::MatrixXd coarse = cycle_of(levels.subspan(1));
  Eigen::MatrixXd injection = Eigen::MatrixXd::Zero(coarse.rows(), a.rows());
  for (Eigen::Index point = 0; point < coarse.rows(); ++point) {
    injection(point, fine_point(levels[0].grid, levels[1].grid, point)) = 1;
  }
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(a.rows(), a.cols());
  using test::product;
  Eigen::MatrixXd x = smoother;
  const Eigen::MatrixXd residual = one - product(a, x);
  x += product(injection.transpose(), product(coarse, product(injection, residual)));
  return x + product(smoother, one - product(a, x));
}

Eigen::MatrixXd applied(Multigrid& multigrid, std::size_t rows) {
  Eigen::MatrixXd result(rows, rows);
  for (std::size_t column = 0; column < rows; ++column) {
    Vector r(rows, 0.0), z(rows, NAN);
    r[column] = 1;
    multigrid.apply(r, z);
    for (std::size_t row = 0; row < rows; ++row) {
      result(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(column)) = z[row];
    }
  }
  return result;
}

class MultigridOnGrid : public testing::TestWithParam<Grid> {};
INSTANTIATE_TEST_SUITE_P(All, MultigridOnGrid,
                         testing::Values(Grid({6, 6, 6}), Grid({8, 8, 8}), Grid({3, 4, 5}),
                                         Grid({12, 8, 4})));

TEST_P(MultigridOnGrid, IsTheCycleThatMatricesSay) {
  const std::vector<Level> levels = make_levels(GetParam());
  Multigrid multigrid(levels, PaddedOrder<Row>::identity(levels[0].matrix.rows()));
  const Eigen::MatrixXd expected = cycle_of(levels);
  const Eigen::MatrixXd found = applied(multigrid, levels[0].matrix.rows());
  EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-14 * expected.cwiseAbs().maxCoeff());
}

TEST_P(MultigridOnGrid, IsSymmetricAndPositiveDefinite) {
  const std::vector<Level> levels = make_levels(GetParam());
  Multigrid multigrid(levels, PaddedOrder<Row>::identity(levels[0].matrix.rows()));
  const Eigen::MatrixXd found = applied(multigrid, levels[0].matrix.rows());
  EXPECT_LT((found - found.transpose()).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_GT(test::hermitian_eigenvalues(found).minCoeff(), 0);
}

TEST(Multigrid, UsesItsCoarserLevels) {
  const std::vector<Level> levels = make_levels(Grid({12, 12, 12}));
  ASSERT_EQ(levels.size(), 3U);
  const auto identity = PaddedOrder<Row>::identity(levels[0].matrix.rows());
  const Vector r = random_vector(1728, 0);
  Vector all(r.size()), finest(r.size());
  Multigrid(levels, identity).apply(r, all);
  Multigrid(std::span(levels).first(1), identity).apply(r, finest);
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < r.size(); ++i) {
    difference += std::pow(all[i] - finest[i], 2);
    size += std::pow(finest[i], 2);
  }
  EXPECT_GT(std::sqrt(difference / size), 0.05);
}

TEST(Multigrid, WorksInTheOrderOfItsCaller) {
  const std::vector<Level> levels = make_levels(Grid({8, 8, 8}));
  Array<Row> row_at;  // backwards, with a padded row behind every third
  for (Row row = 511; row >= 0; --row) {
    row_at.push_back(row);
    if (row % 3 == 0) row_at.push_back(PaddedOrder<Row>::kEmpty);
  }
  const PaddedOrder<Row> order(512, std::move(row_at));
  const Vector r = random_vector(512, 1);
  Vector expected(512), ordered(order.padded_rows()), found(ordered.size(), NAN), back(512);
  Multigrid(levels, PaddedOrder<Row>::identity(512)).apply(r, expected);
  order.gather<double>(r, ordered, 1);
  Multigrid(levels, order).apply(ordered, found);
  order.scatter<double>(found, back, 1);
  EXPECT_EQ(back, expected);
  for (Row position = 0; position < order.padded_rows(); ++position) {
    if (order.row_at(position) == PaddedOrder<Row>::kEmpty) {
      EXPECT_EQ(found[position], 0);
    }
  }
}

TEST(Multigrid, HasTheSameBitsForAnyNumberOfThreads) {
  const std::vector<Level> levels = make_levels(Grid({40, 24, 32}));
  const Vector r = random_vector(40 * 24 * 32, 2);
  Vector expected(r.size());
  for (const int threads : {1, 2, 3, 4}) {
    const ThreadCountScope scope(threads);
    Multigrid multigrid(levels, PaddedOrder<Row>::identity(levels[0].matrix.rows()));
    Vector z(r.size());
    multigrid.apply(r, z);
    if (threads == 1) expected = z;
    EXPECT_EQ(z, expected) << threads;
  }
}

TEST(Multigrid, TakesAnotherMatrixOnTheFinestLevelAndTheOldOneBack) {
  std::vector<Level> levels = make_levels(Grid({8, 8, 8}));
  Multigrid multigrid(levels, PaddedOrder<Row>::identity(512));
  const Vector r = random_vector(512, 1);
  Vector before(512), after(512), expected(512), again(512);
  multigrid.apply(r, before);
  Matrix modified = levels[0].matrix;
  for (double& value : modified.mutable_values()) value *= value > 0 ? 100 : 1;
  multigrid.replace_finest(modified);
  multigrid.apply(r, after);
  multigrid.replace_finest(levels[0].matrix);
  multigrid.apply(r, again);
  EXPECT_EQ(again, before);
  levels[0].matrix = modified;
  Multigrid(levels, PaddedOrder<Row>::identity(512)).apply(r, expected);
  EXPECT_EQ(after, expected);
}

TEST(ReferenceMultigrid, DiffersFromTheColouredOneByTheOrderOfTheRowsAlone) {
  const std::vector<Level> levels = make_levels(Grid({8, 8, 8}));
  ReferenceMultigrid reference(levels);
  const Vector x = random_vector(512, 1), y = random_vector(512, 2);
  Vector of_x(512), of_y(512);
  reference.apply(x, of_x);
  reference.apply(y, of_y);
  double one = 0, other = 0, energy = 0;
  for (std::size_t i = 0; i < 512; ++i) {
    one += y[i] * of_x[i];
    other += x[i] * of_y[i];
    energy += x[i] * of_x[i];
  }
  EXPECT_NEAR(one, other, 1e-13) << "symmetric";
  EXPECT_GT(energy, 0);
}

TEST(Levels, AreHalvedWhileAllDimensionsAreEven) {
  EXPECT_EQ(level_count(Grid({104, 104, 104})), 4);
  EXPECT_EQ(level_count(Grid({24, 24, 24})), 4);
  EXPECT_EQ(level_count(Grid({104, 104, 52})), 3);
  EXPECT_EQ(level_count(Grid({104, 104, 51})), 1);
  EXPECT_EQ(level_count(Grid({16, 16, 16})), 4);
  EXPECT_EQ(level_count(Grid({8, 8, 8})), 3) << "1 point is no grid";
  const std::vector<Level> levels = make_levels(Grid({12, 16, 20}));
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_EQ(levels[2].matrix.rows(), 3 * 4 * 5);
  EXPECT_EQ(fine_point(levels[0].grid, levels[1].grid, 1), 2);
  EXPECT_EQ(fine_point(levels[0].grid, levels[1].grid, 6), 24);
  EXPECT_EQ(fine_point(levels[0].grid, levels[1].grid, 48), 2 * 12 * 16);
}

TEST(Levels, RefuseGridsOfOnePointAlongAnAxis) {
  EXPECT_EQ(make_levels(Grid({2, 2, 2})).size(), 1U);
  EXPECT_THROW(make_levels(Grid({1, 8, 8})), InvalidArgument);
  EXPECT_THROW(make_levels(Grid({8, 8, 1})), InvalidArgument);
  EXPECT_THROW(Multigrid({}, PaddedOrder<Row>::identity(0)), InvalidArgument);
}

}  // namespace
}  // namespace strata::hpcg
