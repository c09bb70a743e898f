// Methods for linear systems: their residuals are computed here once more, with reference products.

#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include "strata/base/random.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/solvers/bicgstab.hpp"
#include "strata/solvers/cg.hpp"
#include "strata/solvers/gmres.hpp"
#include "strata/solvers/minres.hpp"
#include "strata/solvers/processor_space.hpp"

namespace strata::solvers {
namespace {

using I = std::int32_t;
using Space = ProcessorSpace<double>;
using Matrix = Csr<double, I>;

Operator<Space> product_with(const Matrix& matrix) {
  return [&matrix](std::span<const double> x, std::span<double> y) {
    reference::spmv(matrix, 1.0, x, 0.0, y);
  };
}

Operator<Space> jacobi_of(const Matrix& matrix) {
  Array<double> diagonal(static_cast<std::size_t>(matrix.rows()), 1.0);
  for (I row = 0; row < matrix.rows(); ++row) {
    for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      if (matrix.columns()[k] == row) diagonal[static_cast<std::size_t>(row)] = matrix.values()[k];
    }
  }
  return [diagonal](std::span<const double> x, std::span<double> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] / diagonal[i];
  };
}

std::vector<double> right_hand_side(Offset rows) {
  const Random random(5, 1);
  std::vector<double> b(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = random.uniform(i) - 0.3;
  return b;
}

double true_residual(const Matrix& matrix, const std::vector<double>& b,
                     const std::vector<double>& x) {
  std::vector<double> ax(b.size());
  reference::spmv(matrix, 1.0, x, 0.0, ax);
  double left = 0, whole = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    left += (b[i] - ax[i]) * (b[i] - ax[i]);
    whole += b[i] * b[i];
  }
  return std::sqrt(left / whole);
}

struct Solved {
  SolveResult result;
  std::vector<double> x;
};

Solved by_cg(const Matrix& matrix, const std::vector<double>& b, const SolveOptions& options = {},
             bool preconditioned = false) {
  Space space(matrix.rows(), 2);
  Solved solved{{}, std::vector<double>(b.size())};
  solved.result = conjugate_gradients<Space>(space, product_with(matrix),
                                             preconditioned ? jacobi_of(matrix) : Operator<Space>(),
                                             b, solved.x, options);
  return solved;
}

Solved by_gmres(const Matrix& matrix, const std::vector<double>& b,
                const GmresOptions& options = {}, bool preconditioned = false) {
  Space space(matrix.rows(), 2);
  Solved solved{{}, std::vector<double>(b.size())};
  solved.result =
      gmres<Space>(space, product_with(matrix),
                   preconditioned ? jacobi_of(matrix) : Operator<Space>(), b, solved.x, options);
  return solved;
}

TEST(ConjugateGradients, SolvesDefiniteSystemsToTheToleranceThatWasAskedFor) {
  for (const char* spec :
       {"stencil5:40x30", "stencil7:12x12x12", "hpcg:10x10x10", "fem:12x12,degree=3"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    const auto b = right_hand_side(matrix.rows());
    for (const bool preconditioned : {false, true}) {
      for (const double tolerance : {1e-4, 1e-8, 1e-12}) {
        const auto [result, x] = by_cg(matrix, b, {.tolerance = tolerance}, preconditioned);
        EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
        const double residual = true_residual(matrix, b, x);
        EXPECT_LE(residual, tolerance * 1.0001);
        EXPECT_NEAR(residual, result.residual, 1e-3 * residual);
        EXPECT_EQ(result.history.size(), static_cast<std::size_t>(result.iterations));
        EXPECT_LE(result.products, result.iterations + 4);
      }
    }
  }
}

TEST(ConjugateGradients, ToleranceBelowWhatIsAttainableIsSaid) {
  const auto matrix = generate<double, I>("stencil5:60x60");
  const auto b = right_hand_side(matrix.rows());
  const auto [result, x] = by_cg(matrix, b, {.tolerance = 1e-30, .most_iterations = 100000});
  EXPECT_EQ(result.status, SolveStatus::stagnated);
  EXPECT_LT(true_residual(matrix, b, x), 1e-13);
  EXPECT_NE(result.message.find("stays at"), std::string::npos);
}

TEST(ConjugateGradients, AnIndefiniteMatrixIsNamedWithItsIteration) {
  const auto matrix = generate<double, I>("anderson:8x8x8");
  const auto b = right_hand_side(matrix.rows());
  const auto [result, x] = by_cg(matrix, b);
  EXPECT_EQ(result.status, SolveStatus::not_definite) << result.message;
  EXPECT_NE(result.message.find("iteration"), std::string::npos);
  for (const double value : x) EXPECT_TRUE(std::isfinite(value));
}

template <class Solve>
void expect_bad_input_is_survived(const Solve& solve) {
  const auto matrix = generate<double, I>("stencil5:10x10");
  const std::vector<double> zero(static_cast<std::size_t>(matrix.rows()));
  const auto of_zero = solve(matrix, zero, SolveOptions{});
  EXPECT_EQ(of_zero.result.status, SolveStatus::converged);
  EXPECT_EQ(of_zero.x, zero);
  EXPECT_EQ(of_zero.result.residual, 0);

  auto b = right_hand_side(matrix.rows());
  const auto few = solve(matrix, b, SolveOptions{.tolerance = 1e-12, .most_iterations = 3});
  EXPECT_EQ(few.result.status, SolveStatus::most_iterations);
  EXPECT_EQ(few.result.iterations, 3);
  EXPECT_LT(true_residual(matrix, b, few.x), 1);

  int calls = 0;
  const auto stopped =
      solve(matrix, b, SolveOptions{.tolerance = 1e-12, .progress = [&](const Iteration& done) {
                                      EXPECT_EQ(done.number, ++calls);
                                      return done.number < 5;
                                    }});
  EXPECT_EQ(stopped.result.status, SolveStatus::stopped);
  EXPECT_EQ(stopped.result.iterations, 5);
  EXPECT_NEAR(true_residual(matrix, b, stopped.x), stopped.result.residual, 1e-12);

  b[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(solve(matrix, b, SolveOptions{}).result.status, SolveStatus::not_finite);
}

template <class Method>
Solved solved_by(const Method& method, const Matrix& matrix, const std::vector<double>& b,
                 const SolveOptions& options, bool preconditioned = false) {
  Space space(matrix.rows(), 2);
  Solved solved{{}, std::vector<double>(b.size())};
  solved.result =
      method(space, product_with(matrix), preconditioned ? jacobi_of(matrix) : Operator<Space>(),
             std::span<const double>(b), std::span<double>(solved.x), options);
  return solved;
}

TEST(Minres, SolvesIndefiniteSystemsAndItsResidualNeverGrows) {
  for (const char* spec : {"anderson:7x7x7", "stencil5:30x30", "graphene:12x12"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    const auto b = right_hand_side(matrix.rows());
    const auto [result, x] =
        solved_by(minres<Space>, matrix, b, {.tolerance = 1e-9, .most_iterations = 20000});
    EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
    EXPECT_LE(true_residual(matrix, b, x), 1e-9 * 1.0001);
    for (std::size_t k = 1; k < result.history.size(); ++k) {
      if (result.history[k].products > result.history[k - 1].products + 1) continue;  // began anew
      EXPECT_LE(result.history[k].residual, result.history[k - 1].residual * (1 + 1e-9));
    }
  }
}

TEST(Minres, TakesADefinitePreconditioner) {
  const auto matrix = generate<double, I>("fem:12x12,degree=3");
  const auto b = right_hand_side(matrix.rows());
  const auto plain = solved_by(minres<Space>, matrix, b, {.tolerance = 1e-9});
  const auto better = solved_by(minres<Space>, matrix, b, {.tolerance = 1e-9}, true);
  EXPECT_EQ(better.result.status, SolveStatus::converged) << better.result.message;
  EXPECT_LE(true_residual(matrix, b, better.x), 1e-9 * 1.0001);
  EXPECT_LT(better.result.iterations, plain.result.iterations);
}

TEST(Minres, BadInputIsSurvived) {
  expect_bad_input_is_survived(
      [](const Matrix& matrix, const std::vector<double>& b, const SolveOptions& options) {
        return solved_by(minres<Space>, matrix, b, options);
      });
}

TEST(BiCgStab, SolvesUnsymmetricSystems) {
  for (const char* spec : {"stencil5:30x30", "random:300,nnzr=5,seed=3", "hpcg:8x8x8"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    const auto b = right_hand_side(matrix.rows());
    for (const bool preconditioned : {false, true}) {
      const auto [result, x] = solved_by(
          bicgstab<Space>, matrix, b, {.tolerance = 1e-9, .most_iterations = 5000}, preconditioned);
      EXPECT_NEAR(true_residual(matrix, b, x), result.residual, 1e-3 * result.residual + 1e-15);
      if (std::string(spec) != "random:300,nnzr=5,seed=3") {
        EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
        EXPECT_LE(result.residual, 1e-9);
      }
    }
  }
}

TEST(BiCgStab, BadInputIsSurvived) {
  expect_bad_input_is_survived(
      [](const Matrix& matrix, const std::vector<double>& b, const SolveOptions& options) {
        return solved_by(bicgstab<Space>, matrix, b, options);
      });
}

TEST(ConjugateGradients, BadInputIsSurvived) {
  expect_bad_input_is_survived(
      [](const Matrix& matrix, const std::vector<double>& b, const SolveOptions& options) {
        return by_cg(matrix, b, options);
      });
}

TEST(Gmres, SolvesAnySystem) {
  for (const char* spec : {"stencil5:30x30", "anderson:6x6x6", "random:300,nnzr=5,seed=3"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    const auto b = right_hand_side(matrix.rows());
    for (const int restart : {20, 400}) {
      const auto [result, x] = by_gmres(
          matrix, b, {.solve = {.tolerance = 1e-9, .most_iterations = 20000}, .restart = restart});
      if (restart == 400) {
        EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
      }
      EXPECT_NEAR(true_residual(matrix, b, x), result.residual, 1e-3 * result.residual + 1e-15);
      if (result.status == SolveStatus::converged) {
        EXPECT_LE(result.residual, 1e-9);
      }
    }
  }
}

// In exact arithmetic n iterations are enough, and the residual never grows.
TEST(Gmres, TheResidualNeverGrowsAndTheSpaceIsFinite) {
  const auto matrix = generate<double, I>("random:40,nnzr=6,seed=9");
  const auto b = right_hand_side(matrix.rows());
  const auto [result, x] = by_gmres(matrix, b, {.solve = {.tolerance = 1e-11}, .restart = 1000});
  EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
  EXPECT_LE(result.iterations, 40);
  for (std::size_t k = 1; k < result.history.size(); ++k) {
    EXPECT_LE(result.history[k].residual, result.history[k - 1].residual * (1 + 1e-12));
  }
}

TEST(Gmres, AgreesWithMinimisationOverTheKrylovSpace) {
  // On a diagonal matrix of three distinct values three iterations are enough.
  const auto matrix = generate<double, I>("stencil5:1x1");
  EXPECT_EQ(matrix.rows(), 1);
  const auto [result, x] = by_gmres(matrix, {3.0});
  EXPECT_EQ(result.status, SolveStatus::converged);
  EXPECT_EQ(result.iterations, 1);
  EXPECT_NEAR(x[0], 3.0 / matrix.values()[0], 1e-15);
}

TEST(Gmres, BadInputIsSurvived) {
  expect_bad_input_is_survived(
      [](const Matrix& matrix, const std::vector<double>& b, const SolveOptions& options) {
        return by_gmres(matrix, b, {.solve = options});
      });
}

}  // namespace
}  // namespace strata::solvers
