// Eigenpairs on a GPU: those of the processors and of analytic spectra, in every type and by every
// method.

#include "strata/solvers/gpu/eigen_solver.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"
#include "tests/solvers/eigen_support.hpp"
#include "tests/support/gpu.hpp"

namespace strata::gpu {
namespace {

using I = std::int32_t;
using solvers::EigenMethod;
using solvers::EigenOptions;
using solvers::EigenSolverOptions;
using solvers::SolveStatus;
using solvers::Wanted;
using test::expect_residuals;
using test::laplacian_spectrum;

EigenSolverOptions quick(EigenMethod method, const EigenOptions& eigen) {
  return {.method = method, .eigen = eigen, .threads = 2, .autotune = false};
}

template <class V>
class GpuEigenpairs : public test::GpuTest {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GpuEigenpairs, Values);

TYPED_TEST(GpuEigenpairs, EveryMethodFindsTheEigenvaluesOfTheProcessors) {
  using V = TypeParam;
  const bool single = std::is_same_v<decltype(std::abs(V())), float>;
  Stream stream;
  const auto matrix = generate<V, I>("stencil5:13x11,shuffle=1");
  const auto values = laplacian_spectrum(13, 11);
  std::size_t first = 40, count = 5;
  const auto interval = test::interval_between(values, first, count);
  for (const EigenMethod method : solvers::kEigenMethods) {
    SCOPED_TRACE(name_of(method));
    const bool power = method == EigenMethod::power;
    const double tolerance = power ? 2e-3 : single ? 2e-5 : 1e-9;
    EigenSolverOptions options =
        quick(method, {.count = 3, .which = Wanted::both, .tolerance = tolerance});
    options.s = 4;
    options.interval = interval;
    const auto found = eigenpairs(matrix, options, stream);
    EXPECT_EQ(found.result.status, SolveStatus::converged) << found.result.message;
    EXPECT_FALSE(found.variant.empty());
    expect_residuals(matrix, found, 1.5 * tolerance);
    const auto expected = solvers::eigenpairs(matrix, options);
    ASSERT_EQ(found.result.values.size(), expected.result.values.size());
    for (std::size_t k = 0; k < found.result.values.size(); ++k) {
      EXPECT_NEAR(found.result.values[k], expected.result.values[k], 10 * tolerance) << k;
    }
    EXPECT_GE(found.result.times.total, found.result.times.products);
    EXPECT_GT(found.result.times.products, 0);
    if (method != EigenMethod::filter) continue;
    ASSERT_EQ(found.result.values.size(), count);
    for (std::size_t k = 0; k < count; ++k) {
      EXPECT_NEAR(found.result.values[k], values[first + k], 10 * tolerance);
    }
  }
}

class GpuEigenSolver : public test::GpuTest {};

TEST_F(GpuEigenSolver, OrderAndPaddingOfAPlanLeaveNoTrace) {
  // A padded row would add an eigenvalue 0, below all of these.
  Stream stream;
  const int n = test::on_gpu_or_emulated(31, 15);
  const auto values = laplacian_spectrum(n, n - 2);
  const auto matrix = generate<double, I>(
      test::on_gpu_or_emulated("stencil5:31x29,shuffle=1", "stencil5:15x13,shuffle=1"));
  for (const EigenMethod method : {EigenMethod::lanczos, EigenMethod::ca_lanczos}) {
    SCOPED_TRACE(name_of(method));
    const auto pairs = eigenpairs(
        matrix, quick(method, {.count = 4, .which = Wanted::smallest, .tolerance = 1e-11}), stream);
    EXPECT_EQ(pairs.result.status, SolveStatus::converged) << pairs.result.message;
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(pairs.result.values[k], values[k], 1e-10);
    expect_residuals(matrix, pairs, 1e-11);
  }
}

// Larger than the shared memory of a block of threads was made for.
TEST_F(GpuEigenSolver, SubspacesMayBeWide) {
  Stream stream;
  const auto values = laplacian_spectrum(20, 17);
  const auto matrix = generate<double, I>("stencil5:20x17");
  const int count = test::on_gpu_or_emulated(100, 80);
  const auto pairs =
      eigenpairs(matrix,
                 quick(EigenMethod::lanczos,
                       {.count = count, .tolerance = 1e-9, .subspace = 230, .find_copies = false}),
                 stream);
  EXPECT_EQ(pairs.result.status, SolveStatus::converged) << pairs.result.message;
  EXPECT_EQ(pairs.subspace, 230);
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    EXPECT_NEAR(pairs.result.values[k], values[values.size() - 1 - k], 1e-7) << k;
  }
  expect_residuals(matrix, pairs, 1e-9);
  if (test::kEmulatedGpu) return;
  // And of filters, in many blocks.
  EigenSolverOptions options = quick(EigenMethod::filter, {.tolerance = 1e-9});
  std::size_t first = 100, inside = 90;
  options.interval = test::interval_between(values, first, inside);
  options.vectors = 208;
  const auto interior = eigenpairs(matrix, options, stream);
  EXPECT_EQ(interior.result.status, SolveStatus::converged) << interior.result.message;
  EXPECT_EQ(interior.subspace, 208);
  ASSERT_EQ(interior.result.values.size(), inside);
  for (std::size_t k = 0; k < inside; ++k) {
    EXPECT_NEAR(interior.result.values[k], values[first + k], 1e-7);
  }
  expect_residuals(matrix, interior, 1e-9);
}

TEST_F(GpuEigenSolver, FiltersGrowAndFindThoseNearestToATarget) {
  Stream stream;
  const auto values = laplacian_spectrum(14, 11);
  const auto matrix = generate<double, I>("stencil5:14x11,shuffle=1");
  EigenSolverOptions options = quick(EigenMethod::filter, {.count = 5, .tolerance = 1e-9});
  options.target = 3.05;
  const auto pairs = eigenpairs(matrix, options, stream);
  EXPECT_EQ(pairs.result.status, SolveStatus::converged) << pairs.result.message;
  std::vector<double> nearest = values;
  std::sort(nearest.begin(), nearest.end(),
            [](double a, double b) { return std::abs(a - 3.05) < std::abs(b - 3.05); });
  nearest.resize(5);
  std::sort(nearest.begin(), nearest.end());
  ASSERT_EQ(pairs.result.values.size(), 5u);
  for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(pairs.result.values[k], nearest[k], 1e-7);
  options.target.reset();
  options.interval = solvers::ChebyshevInterval{1.01, 3.03};
  options.vectors = 8;
  EXPECT_EQ(eigenpairs(matrix, options, stream).result.status, SolveStatus::breakdown);
  // An interval without eigenvalues is a result, too.
  options.vectors = 0;
  options.interval = solvers::ChebyshevInterval{20, 21};
  const auto empty = eigenpairs(matrix, options, stream);
  EXPECT_EQ(empty.result.status, SolveStatus::converged) << empty.result.message;
  EXPECT_TRUE(empty.result.values.empty());
}

TEST_F(GpuEigenSolver, SweepsAreComparedWithBarePowers) {
  Stream stream;
  const auto matrix = generate<double, I>("stencil5:12x12");
  for (const EigenMethod method : {EigenMethod::ca_lanczos, EigenMethod::filter}) {
    SCOPED_TRACE(name_of(method));
    EigenSolverOptions options = quick(method, {.count = 2, .tolerance = 1e-4});
    options.target = 3.05;
    options.degree = 40;
    options.time_bare = true;
    const auto timed = eigenpairs(matrix, options, stream);
    EXPECT_GT(timed.product.bare, 0);
    EXPECT_GT(timed.product.in_method, 0);
  }
}

TEST_F(GpuEigenSolver, TinyMatrices) {
  Stream stream;
  const Csr<double, I> one(1, 1, {0, 1}, {0}, {3.0});
  for (const EigenMethod method : solvers::kEigenMethods) {
    SCOPED_TRACE(name_of(method));
    EigenSolverOptions options = quick(method, {.count = 1});
    options.interval = solvers::ChebyshevInterval{2.5, 3.5};
    const auto pairs = eigenpairs(one, options, stream);
    EXPECT_EQ(pairs.result.status, SolveStatus::converged) << pairs.result.message;
    ASSERT_EQ(pairs.result.values.size(), 1u);
    EXPECT_NEAR(pairs.result.values[0], 3, 1e-12);
    EXPECT_NEAR(std::abs(pairs.vectors.at(0)), 1, 1e-6);
  }
}

TEST_F(GpuEigenSolver, WhatEndsAMethodIsNamed) {
  Stream stream;
  const auto matrix = generate<double, I>("stencil5:16x15");
  for (const EigenMethod method :
       {EigenMethod::lanczos, EigenMethod::ca_lanczos, EigenMethod::power}) {
    SCOPED_TRACE(name_of(method));
    int calls = 0;
    EigenOptions eigen{.count = 2, .tolerance = 1e-14, .subspace = 12};
    eigen.progress = [&](const solvers::EigenIteration&) { return ++calls < 2; };
    const auto stopped = eigenpairs(matrix, quick(method, eigen), stream);
    EXPECT_EQ(stopped.result.status, SolveStatus::stopped);
    EXPECT_EQ(calls, 2);
    EXPECT_FALSE(stopped.result.values.empty());
    expect_residuals(matrix, stopped, 1);
    eigen.progress = {};
    eigen.most_products = 5;
    EXPECT_EQ(eigenpairs(matrix, quick(method, eigen), stream).result.status,
              SolveStatus::most_iterations);
  }
  // Finite itself, with squares that are not.
  auto huge = matrix;
  for (double& value : huge.mutable_values()) value *= 1e200;
  EXPECT_EQ(eigenpairs(huge, quick(EigenMethod::lanczos, {.count = 1}), stream).result.status,
            SolveStatus::not_finite);
  EXPECT_EQ(eigenpairs(huge, quick(EigenMethod::power, {.count = 1}), stream).result.status,
            SolveStatus::not_finite);
  EXPECT_THROW(eigenpairs(huge, quick(EigenMethod::ca_lanczos, {.count = 1}), stream), Error);
}

TEST_F(GpuEigenSolver, BadInputIsRefused) {
  Stream stream;
  const auto matrix = generate<double, I>("stencil5:5x5");
  const auto general = generate<double, I>("random:30,nnzr=4,seed=3");
  const Csr<double, I> wide(2, 3, Array<Offset>(3, 0), {}, {});
  auto broken = matrix;
  broken.mutable_values()[7] = std::numeric_limits<double>::quiet_NaN();
  for (const EigenMethod method : solvers::kEigenMethods) {
    SCOPED_TRACE(name_of(method));
    EXPECT_THROW(eigenpairs(wide, quick(method, {}), stream), InvalidArgument);
    EXPECT_THROW(eigenpairs(broken, quick(method, {}), stream), InvalidArgument);
    EXPECT_THROW(eigenpairs(Csr<double, I>(), quick(method, {}), stream), InvalidArgument);
    if (method == EigenMethod::power) continue;
    EXPECT_THROW(eigenpairs(general, quick(method, {}), stream), InvalidArgument);
  }
  EXPECT_THROW(eigenpairs(matrix, quick(EigenMethod::filter, {}), stream), InvalidArgument);
  EXPECT_THROW(eigenpairs(matrix, quick(EigenMethod::lanczos, {.count = 26}), stream),
               InvalidArgument);
  const auto large = generate<double, I>("stencil5:50x50");
  for (const EigenMethod method : {EigenMethod::lanczos, EigenMethod::ca_lanczos}) {
    EXPECT_THROW(eigenpairs(large, quick(method, {.subspace = 2049}), stream), InvalidArgument);
  }
}

}  // namespace
}  // namespace strata::gpu
