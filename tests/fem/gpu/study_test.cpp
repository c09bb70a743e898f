// The finite element study on a GPU.
#include "strata/fem/gpu/study.hpp"

#include <gtest/gtest.h>

#include "tests/support/gpu.hpp"

namespace strata::gpu {
namespace {

class GpuFemStudy : public test::GpuTest {};

TEST_F(GpuFemStudy, SolvesAsTheProcessorDoes) {
  Stream stream;
  const solvers::SolveOptions options{.tolerance = 1e-12};
  for (int degree = 1; degree <= 4; ++degree) {
    const fem::FemSystem system({.nx = 9, .ny = 7, .degree = degree});
    std::vector<double> expected(system.load.size(), 0.0);
    fem::solve(system, fem::MatrixForm::csr, expected, {.solve = options});
    for (const fem::MatrixForm form : fem::kMatrixForms) {
      std::vector<double> u(system.load.size(), 0.0);
      const fem::FemSolution found =
          solve(system, form, u, {.solve = options, .repetitions = 2}, stream);
      EXPECT_EQ(found.result.status, solvers::SolveStatus::converged) << found.result.message;
      for (std::size_t i = 0; i < u.size(); ++i) {
        ASSERT_NEAR(u[i], expected[i], 1e-9) << name_of(form) << ", degree " << degree;
      }
      EXPECT_LT(found.residual, 1e-11);
      EXPECT_GT(found.seconds_per_product, 0);
    }
  }
}

TEST_F(GpuFemStudy, SolvesInSinglePrecisionToo) {
  Stream stream;
  for (int degree = 1; degree <= 4; ++degree) {
    const fem::FemSystem system({.nx = 9, .ny = 7, .degree = degree});
    std::vector<double> expected(system.load.size(), 0.0);
    fem::solve(system, fem::MatrixForm::csr, expected, {.solve = {.tolerance = 1e-12}});
    for (const fem::MatrixForm form : fem::kMatrixForms) {
      std::vector<double> u(system.load.size(), 0.0);
      const fem::FemSolution found =
          solve(system, form, u, {.solve = {.tolerance = 1e-4}, .single_precision = true}, stream);
      EXPECT_EQ(found.result.status, solvers::SolveStatus::converged) << found.result.message;
      for (std::size_t i = 0; i < u.size(); ++i) {
        ASSERT_NEAR(u[i], expected[i], 1e-3) << name_of(form) << ", degree " << degree;
      }
      EXPECT_LT(found.residual, 2e-4);
    }
  }
}

TEST_F(GpuFemStudy, ConvergesWithOrderDegreePlusOneWithLocalMatrices) {
  Stream stream;
  for (int degree = 1; degree <= 4; ++degree) {
    const fem::Convergence convergence =
        fem::convergence_of(degree, 4, [&](const fem::FemSystem& system, std::span<double> u) {
          solve(system, fem::MatrixForm::lma, u, {.solve = {.tolerance = 1e-12}}, stream);
        });
    EXPECT_NEAR(convergence.order, degree + 1, 0.5) << degree;
  }
}

}  // namespace
}  // namespace strata::gpu
