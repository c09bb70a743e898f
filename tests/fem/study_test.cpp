#include "strata/fem/study.hpp"

#include <cmath>

#include "strata/base/error.hpp"
#include "strata/machine/default_profile.hpp"
#include "tests/support/dense_by_eigen.hpp"

namespace strata::fem {
namespace {

using solvers::SolveStatus;
using Vector = std::vector<double>;

class FemForm : public testing::TestWithParam<std::tuple<MatrixForm, int>> {};
INSTANTIATE_TEST_SUITE_P(All, FemForm,
                         testing::Combine(testing::ValuesIn(kMatrixForms),
                                          testing::Values(1, 2, 3, 4)));

TEST_P(FemForm, SolvesAsADenseFactorisationDoes) {
  const auto [form, degree] = GetParam();
  const FemSystem system({.nx = 5, .ny = 4, .degree = degree});
  const Eigen::Map<const Eigen::VectorXd> load(system.load.data(), std::ssize(system.load));
  const Eigen::VectorXd expected = test::solution<double>(test::dense(system.matrix), load);
  const MachineProfile profile = default_profile();
  Vector u(system.load.size(), 0.0);
  const FemSolution found =
      solve(system, form, u, {.solve = {.tolerance = 1e-13}, .profile = &profile});
  EXPECT_EQ(found.result.status, SolveStatus::converged) << found.result.message;
  for (std::size_t i = 0; i < u.size(); ++i) EXPECT_NEAR(u[i], expected[i], 1e-11) << i;
  EXPECT_LT(found.residual, 1e-12) << "by a product with the assembled matrix";
  EXPECT_GT(found.matrix_bytes, 0);
  EXPECT_GT(found.iterations_per_second(), 0);
}

TEST_P(FemForm, ConvergesWithOrderDegreePlusOne) {
  const auto [form, degree] = GetParam();
  const MachineProfile profile = default_profile();
  const Convergence convergence =
      convergence_of(degree, 6, [&](const FemSystem& system, std::span<double> u) {
        const FemSolution found =
            solve(system, form, u, {.solve = {.tolerance = 1e-12}, .profile = &profile});
        ASSERT_EQ(found.result.status, SolveStatus::converged) << found.result.message;
      });
  EXPECT_LT(convergence.fine_error, convergence.coarse_error);
  EXPECT_NEAR(convergence.order, degree + 1, 0.35);
}

TEST(FemStudy, HasTheSameBitsForAnyNumberOfThreads) {
  const FemSystem system({.nx = 40, .ny = 30, .degree = 2});
  const MachineProfile profile = default_profile();
  for (const MatrixForm form : kMatrixForms) {
    Vector expected;
    for (const int threads : {1, 2, 3, 4}) {
      Vector u(system.load.size(), 0.0);
      solve(system, form, u,
            {.solve = {.tolerance = 0, .most_iterations = 20},
             .threads = threads,
             .profile = &profile});
      if (threads == 1) expected = u;
      EXPECT_EQ(u, expected) << name_of(form) << ", " << threads << " threads";
    }
  }
}

TEST(FemStudy, CountsFewerBytesForLocalMatricesOfHighDegree) {
  const MachineProfile profile = default_profile();
  const auto bytes = [&](MatrixForm form, int degree) {
    const FemSystem system({.nx = 24, .ny = 24, .degree = degree});
    Vector u(system.load.size(), 0.0);
    return solve(system, form, u, {.solve = {.most_iterations = 1}, .profile = &profile})
        .matrix_bytes;
  };
  EXPECT_GT(bytes(MatrixForm::lma, 1), bytes(MatrixForm::csr, 1));
  EXPECT_LT(bytes(MatrixForm::lma, 4), bytes(MatrixForm::csr, 4));
  EXPECT_LT(bytes(MatrixForm::csr, 4), bytes(MatrixForm::ell, 4));
  EXPECT_LT(10 * bytes(MatrixForm::lma_symmetric, 4), 6 * bytes(MatrixForm::lma, 4));
}

TEST(FemStudy, SolvesFromTheSameGuessAsOftenAsAsked) {
  const FemSystem system({.nx = 6, .ny = 6, .degree = 2});
  const MachineProfile profile = default_profile();
  for (const MatrixForm form : {MatrixForm::csr, MatrixForm::lma}) {
    Vector once(system.load.size(), 0.5), often = once;
    const solvers::SolveOptions three{.tolerance = 0, .most_iterations = 3};
    solve(system, form, once, {.solve = three, .profile = &profile});
    const FemSolution found =
        solve(system, form, often, {.solve = three, .repetitions = 4, .profile = &profile});
    EXPECT_EQ(found.timing.repetitions, 4);
    EXPECT_EQ(found.result.iterations, 3);
    EXPECT_EQ(often, once);
    EXPECT_THROW(solve(system, form, often, {.repetitions = 0}), InvalidArgument);
  }
}

TEST(FemStudy, SolvesInSinglePrecisionWithFewerBytes) {
  const MachineProfile profile = default_profile();
  for (const int degree : {1, 3}) {
    const FemSystem system({.nx = 12, .ny = 10, .degree = degree});
    for (const MatrixForm form : kMatrixForms) {
      Vector expected(system.load.size(), 0.0), u = expected;
      const FemSolution in_double =
          solve(system, form, expected, {.solve = {.tolerance = 1e-12}, .profile = &profile});
      const FemSolution found =
          solve(system, form, u,
                {.solve = {.tolerance = 1e-4}, .single_precision = true, .profile = &profile});
      EXPECT_EQ(found.result.status, SolveStatus::converged) << found.result.message;
      EXPECT_LT(found.residual, 2e-4);
      EXPECT_GT(found.residual, in_double.residual);
      EXPECT_LT(found.matrix_bytes, in_double.matrix_bytes);
      for (std::size_t i = 0; i < u.size(); ++i) ASSERT_NEAR(u[i], expected[i], 1e-3) << i;
    }
  }
}

TEST(FemStudy, NamesFormsAndTheirFormats) {
  EXPECT_EQ(name_of(MatrixForm::lma_symmetric), "lma-symmetric");
  EXPECT_EQ(format_of(MatrixForm::packed_sell), Format::packed_sell);
  EXPECT_THROW(format_of(MatrixForm::lma), InvalidArgument);
}

TEST(FemStudy, RefusesMeshesWithoutUnknowns) {
  EXPECT_THROW(FemSystem({.nx = 1, .ny = 9, .degree = 1}), InvalidArgument);
}

}  // namespace
}  // namespace strata::fem
