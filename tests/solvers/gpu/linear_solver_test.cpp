// Systems on a GPU: the solutions of the processors' solver, in every type and by every method.

#include "strata/solvers/gpu/linear_solver.hpp"

#include <gtest/gtest.h>

#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/solvers/internal/spectral.hpp"
#include "tests/solvers/gpu/numbers.hpp"
#include "tests/support/gpu.hpp"

namespace strata::gpu {
namespace {

using I = std::int32_t;
using solvers::Method;
using solvers::Preconditioner;
using solvers::SolveResult;
using solvers::SolveStatus;

template <Value V>
double true_residual(const Csr<V, I>& matrix, std::span<const V> b, std::span<const V> x) {
  std::vector<V> r(b.begin(), b.end());
  reference::spmv(matrix, V(-1), std::vector<V>(x.begin(), x.end()), V(1), r);
  double square = 0, of_b = 0;
  for (std::size_t i = 0; i < r.size(); ++i) {
    square += std::norm(std::complex<double>(r[i]));
    of_b += std::norm(std::complex<double>(b[i]));
  }
  return std::sqrt(square / of_b);
}

template <class Change>
Csr<double, I> with_values(const Csr<double, I>& matrix, const Change& change) {
  Array<Offset> offsets(matrix.row_offsets().begin(), matrix.row_offsets().end());
  Array<I> columns(matrix.columns().begin(), matrix.columns().end());
  Array<double> values(matrix.values().begin(), matrix.values().end());
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = change(static_cast<Offset>(k), values[k]);
  }
  return {matrix.rows(), matrix.cols(), std::move(offsets), std::move(columns), std::move(values)};
}

template <class V>
class GpuSolver : public test::GpuTest {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GpuSolver, Values);

TYPED_TEST(GpuSolver, EveryMethodFindsTheSolutionOfTheProcessors) {
  using V = TypeParam;
  using Real = decltype(std::abs(V()));
  Stream stream;
  const auto matrix = generate<V, I>("stencil5:12x11,shuffle=1");
  const auto b = test::solver_numbers<V>(matrix.rows(), 5);
  const double tolerance = 200.0 * std::numeric_limits<Real>::epsilon();
  for (const Method method : solvers::kMethods) {
    for (const Preconditioner preconditioner : solvers::kPreconditioners) {
      if (preconditioner != Preconditioner::none && solvers::detail::runs_on_powers(method)) {
        continue;
      }
      SCOPED_TRACE(std::string(name_of(method)) + " " + std::string(name_of(preconditioner)));
      const solvers::LinearSolverOptions options{.method = method,
                                                 .preconditioner = preconditioner,
                                                 .powers = 4,
                                                 .degree = 4,
                                                 .product = {.autotune = false}};
      LinearSolver<V> solver(matrix, options, stream);
      std::vector<V> x(b.size()), expected(b.size());
      const SolveResult result = solver.solve(b, x, {.tolerance = tolerance});
      EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
      EXPECT_NEAR(result.residual, true_residual<V>(matrix, b, x), tolerance);
      EXPECT_LE(true_residual<V>(matrix, b, x), 2 * tolerance);
      solvers::LinearSolver<V, I> here(matrix, options);
      const SolveResult there = here.solve(b, expected, {.tolerance = tolerance});
      EXPECT_NEAR(result.iterations, there.iterations, 3 + there.iterations / 10);
      EXPECT_FALSE(solver.variant().empty());
      EXPECT_GT(solver.product_seconds(), 0);
      double largest = 0;
      for (const V value : expected) largest = std::max<double>(largest, std::abs(value));
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_LE(std::abs(x[i] - expected[i]), 200 * tolerance * largest) << "element " << i;
      }
      EXPECT_GT(result.times.total, 0);
    }
  }
}

class GpuLinearSolver : public test::GpuTest {};

TEST_F(GpuLinearSolver, TakesNewValuesAndAFirstGuess) {
  Stream stream;
  const auto matrix = generate<double, I>("stencil5:20x20");
  LinearSolver<double> solver(
      matrix, {.preconditioner = Preconditioner::jacobi, .product = {.autotune = false}}, stream);
  const std::vector<double> b(400, 1.0);
  std::vector<double> x(400);
  ASSERT_EQ(solver.solve(b, x, {.tolerance = 1e-10}).status, SolveStatus::converged);
  EXPECT_EQ(solver.solve(b, x, {.tolerance = 1e-10}).iterations, 0);
  const auto other = generate<double, I>("stencil5:20x20,coefficients=random");
  solver.update_values(other);
  const SolveResult again = solver.solve(b, x, {.tolerance = 1e-10});
  EXPECT_EQ(again.status, SolveStatus::converged) << again.message;
  EXPECT_GT(again.iterations, 0);
  EXPECT_LE(true_residual<double>(other, b, x), 1.01e-10);
  EXPECT_GT(solver.product_seconds(), 0);
}

TEST_F(GpuLinearSolver, TheSameSystemGivesTheSameBits) {
  Stream stream;
  const auto matrix = generate<double, I>("stencil5:30x31");
  LinearSolver<double> solver(matrix, {.product = {.autotune = false}}, stream);
  const auto b = test::solver_numbers<double>(matrix.rows(), 3);
  std::vector<double> once(b.size()), again(b.size());
  const SolveResult first = solver.solve(b, once, {.tolerance = 1e-6});
  const SolveResult second = solver.solve(b, again, {.tolerance = 1e-6});
  EXPECT_EQ(once, again);
  EXPECT_EQ(first.residual, second.residual);
}

// What the host learns an iteration late still ends the method, with what it had.
TEST_F(GpuLinearSolver, WhatEndsAMethodIsNamed) {
  Stream stream;
  const auto matrix = generate<double, I>("stencil5:12x12");
  const std::vector<double> b(144, 1.0);
  std::vector<double> x(144);
  LinearSolver<double> solver(matrix, {.product = {.autotune = false}}, stream);
  SolveResult few = solver.solve(b, x, {.tolerance = 1e-12, .most_iterations = 7});
  EXPECT_EQ(few.status, SolveStatus::most_iterations);
  EXPECT_EQ(few.iterations, 7);
  EXPECT_EQ(few.products, 7 + 2);
  x.assign(144, 0);
  const SolveResult stopped =
      solver.solve(b, x, {.tolerance = 1e-12, .progress = [](const solvers::Iteration& done) {
                            return done.number < 5;
                          }});
  EXPECT_EQ(stopped.status, SolveStatus::stopped);
  EXPECT_EQ(stopped.iterations, 5);
  EXPECT_LT(true_residual<double>(matrix, b, x), 1);
  solver.update_values(with_values(matrix, [](Offset, double value) { return -value; }));
  x.assign(144, 0);
  const SolveResult refused = solver.solve(b, x);
  EXPECT_EQ(refused.status, SolveStatus::not_definite);
  EXPECT_NE(refused.message.find("iteration 1"), std::string::npos) << refused.message;
  solver.update_values(with_values(matrix, [](Offset k, double value) {
    return k == 100 ? std::numeric_limits<double>::quiet_NaN() : value;
  }));
  x.assign(144, 0);
  EXPECT_EQ(solver.solve(b, x).status, SolveStatus::not_finite);
  for (const double value : x) ASSERT_TRUE(std::isfinite(value));
}

// Blocks of the caller's rows, wherever the plan has these; the last one is smaller.
TEST_F(GpuLinearSolver, BlockJacobiTakesTheIterationsOfTheProcessors) {
  Stream stream;
  const auto matrix = generate<double, I>("stencil5:17x13,coefficients=random,shuffle=1");
  const auto b = test::solver_numbers<double>(matrix.rows(), 3);
  for (const int block_rows : {1, 4, 13, 64}) {
    SCOPED_TRACE(block_rows);
    const solvers::LinearSolverOptions options{.preconditioner = Preconditioner::block_jacobi,
                                               .block_rows = block_rows,
                                               .product = {.autotune = false, .threads = 2}};
    std::vector<double> found(b.size()), expected(b.size());
    LinearSolver<double> there(matrix, options, stream);
    solvers::LinearSolver<double, I> here(matrix, options);
    const SolveResult result = there.solve(b, found, {.tolerance = 1e-10});
    const SolveResult same = here.solve(b, expected, {.tolerance = 1e-10});
    EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
    EXPECT_NEAR(result.iterations, same.iterations, 2);
    EXPECT_LE(true_residual<double>(matrix, b, found), 1.01e-10);
  }
}

TEST_F(GpuLinearSolver, WhatCannotBeSolvedIsRefused) {
  Stream stream;
  const auto matrix = generate<double, I>("stencil5:4x4");
  LinearSolver<double> solver(matrix, {.product = {.autotune = false}}, stream);
  std::vector<double> x(16), few(3);
  EXPECT_THROW(solver.solve(few, x), InvalidArgument);
  EXPECT_THROW(solver.solve(x, few), InvalidArgument);
  EXPECT_THROW(LinearSolver<double>(matrix,
                                    {.preconditioner = Preconditioner::block_jacobi,
                                     .block_rows = 65,
                                     .product = {.autotune = false}},
                                    stream),
               InvalidArgument);
  const auto hollow = generate<double, I>("random:30,nnzr=2,seed=4");
  EXPECT_THROW(
      LinearSolver<double>(
          hollow, {.preconditioner = Preconditioner::jacobi, .product = {.autotune = false}},
          stream),
      InvalidArgument);
}

}  // namespace
}  // namespace strata::gpu
