// Systems as users solve them: by plans, in any type, with rows that plans reorder.

#include "strata/solvers/linear_solver.hpp"

#include <gtest/gtest.h>

#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"
#include "strata/solvers/dense.hpp"
#include "tests/support/dense_by_eigen.hpp"
#include "tests/support/types.hpp"

namespace strata::solvers {
namespace {

using I = std::int32_t;

template <class V>
class Solver : public testing::Test {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Solver, Values);

// Against LU factors of Eigen.
TYPED_TEST(Solver, EveryMethodFindsTheSolutionOfADenseFactorisation) {
  using V = TypeParam;
  using Real = decltype(std::abs(V()));
  const auto matrix = generate<V, I>("stencil5:12x11,shuffle=1");
  std::vector<V> b;
  for (I i = 0; i < matrix.rows(); ++i) b.push_back(V(static_cast<Real>(1 + i % 7)));
  const test::FullVector<V> exact =
      test::solution<Wide<V>>(
          test::dense(matrix).template cast<Wide<V>>(),
          Eigen::Map<const test::FullVector<V>>(b.data(), matrix.rows()).template cast<Wide<V>>())
          .template cast<V>();
  const double tolerance = 200.0 * std::numeric_limits<Real>::epsilon();
  for (const Method method : kMethods) {
    for (const Preconditioner preconditioner : kPreconditioners) {
      SCOPED_TRACE(std::string(name_of(method)) + " " + std::string(name_of(preconditioner)));
      const bool alone =
          method == Method::ca_cg || method == Method::ca_gmres || method == Method::chebyshev;
      if (alone && preconditioner != Preconditioner::none) {
        EXPECT_THROW(
            (LinearSolver<V, I>(matrix, {.method = method, .preconditioner = preconditioner})),
            InvalidArgument);
        continue;
      }
      LinearSolver<V, I> solver(matrix, {.method = method,
                                         .preconditioner = preconditioner,
                                         .product = {.autotune = false, .threads = 2}});
      std::vector<V> x(b.size());
      const SolveResult result = solver.solve(b, x, {.tolerance = tolerance});
      EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_LE(std::abs(x[i] - exact(static_cast<I>(i))), 200 * tolerance * exact.norm());
      }
      EXPECT_GT(result.times.products, 0);
      EXPECT_GE(result.times.rest(), 0);
      EXPECT_EQ(result.times.preconditioner > 0, preconditioner != Preconditioner::none);
      EXPECT_FALSE(solver.explain().empty());
    }
  }
}

TEST(LinearSolver, TakesNewValuesAndAFirstGuess) {
  const auto matrix = generate<double, I>("stencil5:20x20");
  LinearSolver<double, I> solver(
      matrix, {.preconditioner = Preconditioner::jacobi, .product = {.autotune = false}});
  const std::vector<double> b(400, 1.0);
  std::vector<double> x(400);
  ASSERT_EQ(solver.solve(b, x, {.tolerance = 1e-10}).status, SolveStatus::converged);
  EXPECT_EQ(solver.solve(b, x, {.tolerance = 1e-10}).iterations, 0);
  const auto other = generate<double, I>("stencil5:20x20,coefficients=random");
  solver.update_values(other);
  const SolveResult again = solver.solve(b, x, {.tolerance = 1e-10});
  EXPECT_EQ(again.status, SolveStatus::converged) << again.message;
  EXPECT_GT(again.iterations, 0);
  std::vector<double> fresh(400);
  LinearSolver<double, I>(other, {.product = {.autotune = false}})
      .solve(b, fresh, {.tolerance = 1e-10});
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], fresh[i], 1e-7);
}

// Fewer iterations than without, and the more the better they are.
TEST(LinearSolver, PreconditionersSaveIterations) {
  const auto square = generate<double, I>("stencil5:40x40,dof=2");
  const auto lines = generate<double, I>("stencil5:20x80,dof=2");  // each of 40 rows
  const auto iterations_with = [](const Csr<double, I>& matrix, LinearSolverOptions options) {
    const std::vector<double> b(static_cast<std::size_t>(matrix.rows()), 1.0);
    options.product.autotune = false;
    LinearSolver<double, I> solver(matrix, options);
    std::vector<double> x(b.size());
    const SolveResult result = solver.solve(b, x, {.tolerance = 1e-10, .most_iterations = 5000});
    EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
    return result.iterations;
  };
  const auto iterations = [&](const LinearSolverOptions& options) {
    return iterations_with(square, options);
  };
  for (const Method method : {Method::cg, Method::minres, Method::gmres, Method::bicgstab}) {
    SCOPED_TRACE(std::string(name_of(method)));
    const int none = iterations({.method = method});
    for (const Preconditioner preconditioner :
         {Preconditioner::chebyshev, Preconditioner::neumann, Preconditioner::gmres}) {
      SCOPED_TRACE(std::string(name_of(preconditioner)));
      const int four =
          iterations({.method = method, .preconditioner = preconditioner, .degree = 4});
      EXPECT_LT(four, none);
      EXPECT_LT(iterations({.method = method, .preconditioner = preconditioner, .degree = 12}),
                four);
    }
    const LinearSolverOptions by_lines{
        .method = method, .preconditioner = Preconditioner::block_jacobi, .block_rows = 40};
    EXPECT_LT(iterations_with(lines, by_lines), iterations_with(lines, {.method = method}));
  }
}

// Blocks that are all of the matrix solve it.
TYPED_TEST(Solver, BlockJacobiSolvesWithItsBlocks) {
  using V = TypeParam;
  using Real = decltype(std::abs(V()));
  const auto matrix = generate<V, I>("stencil5:7x6,shuffle=1");  // of 42 rows
  std::vector<V> b(42);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = V(static_cast<Real>(i % 5));
  LinearSolver<V, I> solver(matrix, {.method = Method::gmres,
                                     .preconditioner = Preconditioner::block_jacobi,
                                     .block_rows = 42,
                                     .product = {.autotune = false}});
  std::vector<V> x(b.size());
  const SolveResult result =
      solver.solve(b, x, {.tolerance = 100.0 * std::numeric_limits<Real>::epsilon()});
  EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
  EXPECT_LE(result.iterations, 2);
}

TEST(LinearSolver, SpectraThatPolynomialsCannotHaveAreNamed) {
  const auto graphene = generate<double, I>("graphene:8x8");  // on both sides of 0
  for (const LinearSolverOptions& options :
       {LinearSolverOptions{.method = Method::chebyshev},
        LinearSolverOptions{.method = Method::gmres,
                            .preconditioner = Preconditioner::chebyshev}}) {
    try {
      LinearSolver<double, I> solver(graphene, options);
      ADD_FAILURE() << "nothing thrown";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("not positive definite"), std::string::npos);
    }
  }
}

TEST(LinearSolver, WhatCannotBeSolvedIsRefused) {
  const auto wide = generate<double, I>("stencil5:4x4");
  LinearSolver<double, I> solver(wide, {.product = {.autotune = false}});
  std::vector<double> x(16), few(3);
  EXPECT_THROW(solver.solve(few, x), InvalidArgument);
  EXPECT_THROW(solver.solve(x, few), InvalidArgument);
  const auto hollow = generate<double, I>("random:30,nnzr=2,seed=4");
  EXPECT_THROW((LinearSolver<double, I>(hollow, {.preconditioner = Preconditioner::jacobi,
                                                 .product = {.autotune = false}})),
               InvalidArgument);
  for (const int rows : {0, 65}) {
    EXPECT_THROW((LinearSolver<double, I>(
                     wide, {.preconditioner = Preconditioner::block_jacobi, .block_rows = rows})),
                 InvalidArgument);
  }
  EXPECT_THROW((LinearSolver<double, I>(wide, {.method = Method::ca_cg, .powers = 0})),
               InvalidArgument);
}

}  // namespace
}  // namespace strata::solvers
