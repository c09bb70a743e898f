// Lanczos' method and its s-step form, against Eigen on small matrices, analytic spectra on large
// ones, and residuals that are computed here once more.

#include "strata/solvers/lanczos.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/solvers/ca_lanczos.hpp"
#include "strata/solvers/processor_powers.hpp"
#include "strata/solvers/spectrum_bounds.hpp"
#include "tests/solvers/functions_support.hpp"

namespace strata::solvers {
namespace {

using I = std::int32_t;
using test::dense;
using test::sparse;
using test::spectrum_of;

template <Value V>
Operator<ProcessorSpace<V>> product_with(const Csr<V, I>& matrix) {
  return [&matrix](std::span<const V> x, std::span<V> y) {
    reference::spmv(matrix, V(1), x, V(0), y);
  };
}

template <Value V>
struct Found {
  EigenResult result;
  std::vector<V> vectors;
};

template <Value V>
Found<V> by_lanczos(const Csr<V, I>& matrix, const EigenOptions& options) {
  ProcessorSpace<V> space(matrix.rows(), 2);
  Found<V> found;
  found.vectors.resize(static_cast<std::size_t>(matrix.rows()) *
                       static_cast<std::size_t>(options.count));
  found.result = lanczos<ProcessorSpace<V>>(space, product_with(matrix), test::random_filler<V>(),
                                            matrix.rows(), found.vectors, options);
  return found;
}

template <Value V>
Found<V> by_ca_lanczos(const Csr<V, I>& matrix, const CaLanczosOptions& options) {
  ProcessorSpace<V> space(matrix.rows(), 2);
  ProcessorPowers<V, I> powers(matrix, {.power = std::max(options.s, 1),
                                        .strategy = PowerStrategy::spmv,
                                        .format = Format::csr,
                                        .autotune = false,
                                        .threads = 2});
  Found<V> found;
  found.vectors.resize(static_cast<std::size_t>(matrix.rows()) *
                       static_cast<std::size_t>(options.eigen.count));
  auto start = test::random_vector<V>(static_cast<std::size_t>(matrix.rows()), 3);
  const SpectrumBounds bounds =
      intersected(estimate_bounds<ProcessorSpace<V>>(space, product_with(matrix), start),
                  gershgorin_bounds(matrix));
  found.result = ca_lanczos<ProcessorSpace<V>>(space, powers, bounds, test::random_filler<V>(),
                                               matrix.rows(), found.vectors, options);
  return found;
}

// As EigenResult::values has them.
std::vector<double> expected(const std::vector<double>& ascending, Wanted which, int count) {
  std::vector<double> values;
  for (const int k : Ends::of(which, count).indices(static_cast<int>(ascending.size()))) {
    values.push_back(ascending[static_cast<std::size_t>(k)]);
  }
  return values;
}

template <Value V>
void expect_eigenpairs(const Csr<V, I>& matrix, const Found<V>& found,
                       const std::vector<double>& values, double tolerance) {
  const auto rows = static_cast<std::size_t>(matrix.rows());
  ASSERT_EQ(found.result.values.size(), values.size());
  const double norm = found.result.norm;
  for (std::size_t k = 0; k < values.size(); ++k) {
    EXPECT_NEAR(found.result.values[k], values[k], 2 * tolerance * norm) << k;
    const std::span<const V> x(found.vectors.data() + k * rows, rows);
    std::vector<V> ax(rows);
    reference::spmv(matrix, V(1), x, V(0), ax);
    double residual = 0, length = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      using Real = decltype(std::abs(V()));
      residual += std::norm(ax[i] - static_cast<Real>(found.result.values[k]) * x[i]);
      length += std::norm(x[i]);
    }
    residual = std::sqrt(residual / length) / norm;
    EXPECT_LE(residual, tolerance * 1.01);
    const double rounding = 4.0 * std::numeric_limits<decltype(std::abs(V()))>::epsilon();
    EXPECT_NEAR(residual, found.result.residuals[k], 0.01 * tolerance + rounding);
    for (std::size_t other = 0; other < k; ++other) {
      V dot(0);
      for (std::size_t i = 0; i < rows; ++i) {
        dot += conjugate(found.vectors[other * rows + i]) * x[i];
      }
      EXPECT_LE(std::abs(dot),
                1e-10 + 100 * std::numeric_limits<decltype(std::abs(V()))>::epsilon());
    }
  }
}

TEST(SpectrumBounds, HoldTheSpectrumAndAreNotFarFromIt) {
  for (const char* spec : {"stencil5:12x11", "anderson:6x6x6", "graphene:14x13", "hpcg:6x6x6",
                           "fem:9x9,degree=3", "mesh:300,dim=2,nnzr=7"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    const auto values = spectrum_of(matrix);
    ProcessorSpace<double> space(matrix.rows(), 2);
    const SpectrumBounds outer = gershgorin_bounds(matrix);
    EXPECT_LE(outer.low, values.front() + 1e-12 * outer.norm());
    EXPECT_GE(outer.high, values.back() - 1e-12 * outer.norm());
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
      auto start = test::random_vector<double>(static_cast<std::size_t>(matrix.rows()), seed);
      const SpectrumBounds bounds =
          estimate_bounds<ProcessorSpace<double>>(space, product_with(matrix), start);
      const double width = values.back() - values.front();
      EXPECT_LE(bounds.low, values.front() + 1e-12 * width);
      EXPECT_GE(bounds.high, values.back() - 1e-12 * width);
      EXPECT_GE(bounds.low, values.front() - 0.4 * width);
      EXPECT_LE(bounds.high, values.back() + 0.4 * width);
      EXPECT_GE(bounds.smallest, values.front() - 1e-12 * width);
      EXPECT_LE(bounds.largest, values.back() + 1e-12 * width);
      EXPECT_LE(bounds.products, 24);
    }
  }
}

TEST(SpectrumBounds, OfInvariantSpacesAndOfNothing) {
  ProcessorSpace<double> space(5);
  const auto identity = sparse(Eigen::MatrixXd(3 * Eigen::MatrixXd::Identity(5, 5)));
  std::vector<double> start{1, 2, 3, 4, 5}, zero(5);
  const auto bounds = estimate_bounds<ProcessorSpace<double>>(space, product_with(identity), start);
  EXPECT_NEAR(bounds.low, 3, 1e-12);
  EXPECT_NEAR(bounds.high, 3, 1e-12);
  EXPECT_EQ(bounds.products, 1);
  EXPECT_LT(bounds.widened(0.01).low, 3);
  EXPECT_EQ(estimate_bounds<ProcessorSpace<double>>(space, product_with(identity), zero).products,
            0);
  auto broken = Eigen::MatrixXd(Eigen::MatrixXd::Identity(5, 5));
  broken(2, 2) = std::nan("");
  const auto nan = sparse(broken);
  std::vector<double> again{1, 2, 3, 4, 5};
  EXPECT_THROW(estimate_bounds<ProcessorSpace<double>>(space, product_with(nan), again), Error);
}

template <class V>
class Eigenvalues : public testing::Test {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Eigenvalues, Values);

TYPED_TEST(Eigenvalues, AreThoseOfADenseSolverAtBothEnds) {
  using V = TypeParam;
  const double tolerance = std::is_same_v<decltype(std::abs(V())), float> ? 3e-6 : 1e-11;
  for (const char* spec : {"anderson:6x6x6", "stencil5:17x14", "topi:3x4x3"}) {
    if (!is_complex<V> && std::string(spec) == "topi:3x4x3") continue;
    SCOPED_TRACE(spec);
    const auto matrix = generate<V, I>(spec);
    const auto values = spectrum_of(matrix);
    for (const Wanted which : kWanted) {
      SCOPED_TRACE(name_of(which));
      const EigenOptions options{.count = 5, .which = which, .tolerance = tolerance};
      const auto found = by_lanczos(matrix, options);
      EXPECT_EQ(found.result.status, SolveStatus::converged) << found.result.message;
      expect_eigenpairs(matrix, found, expected(values, which, 5), tolerance);
      const auto at_once = by_ca_lanczos(matrix, {.eigen = options, .s = 6});
      EXPECT_EQ(at_once.result.status, SolveStatus::converged) << at_once.result.message;
      expect_eigenpairs(matrix, at_once, expected(values, which, 5), tolerance);
    }
  }
}

// λ = 4 − 2 cos(iπ/(nx + 1)) − 2 cos(jπ/(ny + 1)), of a square all but a few twice.
TEST(Lanczos, FindsTheAnalyticSpectrumOfALaplacianWithItsDoubleEigenvalues) {
  const int n = 60;
  const auto matrix = generate<double, I>("stencil5:60x60");
  std::vector<double> values;
  for (int i = 1; i <= n; ++i) {
    for (int j = 1; j <= n; ++j) {
      values.push_back(4 - 2 * std::cos(i * std::numbers::pi / (n + 1)) -
                       2 * std::cos(j * std::numbers::pi / (n + 1)));
    }
  }
  std::sort(values.begin(), values.end());
  for (const Wanted which : kWanted) {
    SCOPED_TRACE(name_of(which));
    const EigenOptions options{.count = 6, .which = which, .tolerance = 1e-10};
    const auto found = by_lanczos(matrix, options);
    EXPECT_EQ(found.result.status, SolveStatus::converged) << found.result.message;
    expect_eigenpairs(matrix, found, expected(values, which, 6), 1e-10);
    for (const int s : {4, 8}) {
      const auto at_once = by_ca_lanczos(matrix, {.eigen = options, .s = s});
      EXPECT_EQ(at_once.result.status, SolveStatus::converged) << at_once.result.message;
      expect_eigenpairs(matrix, at_once, expected(values, which, 6), 1e-10);
      EXPECT_LE(at_once.result.products, found.result.products * 13 / 10);
    }
  }
}

TEST(Lanczos, GoesOnWhereTheSpaceIsInvariant) {
  // Three distinct eigenvalues: a Krylov space has three dimensions.
  Eigen::VectorXd diagonal(40);
  for (int i = 0; i < 40; ++i) diagonal(i) = i < 3 ? 7 : (i < 20 ? 2 : -1);
  const auto matrix = sparse(Eigen::MatrixXd(diagonal.asDiagonal()));
  for (const int subspace : {0, 12}) {
    const EigenOptions options{.count = 5, .tolerance = 1e-12, .subspace = subspace};
    const std::vector<double> values{7, 7, 7, 2, 2};
    const auto found = by_lanczos(matrix, options);
    EXPECT_EQ(found.result.status, SolveStatus::converged) << found.result.message;
    expect_eigenpairs(matrix, found, values, 1e-12);
    const auto at_once = by_ca_lanczos(matrix, {.eigen = options, .s = 5});
    EXPECT_EQ(at_once.result.status, SolveStatus::converged) << at_once.result.message;
    expect_eigenpairs(matrix, at_once, values, 1e-12);
  }
}

TEST(Lanczos, AllEigenvaluesOfTinyMatrices) {
  for (const int n : {1, 2, 3, 7}) {
    Eigen::MatrixXd full = Eigen::MatrixXd::Random(n, n);
    full = (full + full.transpose()).eval();
    const auto matrix = sparse(full);
    const auto values = spectrum_of(matrix);
    for (const Wanted which : kWanted) {
      const EigenOptions options{.count = n, .which = which, .tolerance = 1e-12};
      const auto found = by_lanczos(matrix, options);
      EXPECT_EQ(found.result.status, SolveStatus::converged) << found.result.message;
      expect_eigenpairs(matrix, found, expected(values, which, n), 1e-12);
      const auto at_once = by_ca_lanczos(matrix, {.eigen = options, .s = 8});
      EXPECT_EQ(at_once.result.status, SolveStatus::converged) << at_once.result.message;
      expect_eigenpairs(matrix, at_once, expected(values, which, n), 1e-12);
      EXPECT_FALSE(at_once.result.remarks.empty());  // s is larger than the space
    }
  }
}

TEST(Lanczos, OfTheZeroMatrix) {
  const Csr<double, I> matrix(6, 6, Array<Offset>(7, 0), {}, {});
  const auto found = by_lanczos(matrix, {.count = 3});
  EXPECT_EQ(found.result.status, SolveStatus::converged);
  EXPECT_EQ(found.result.values, (std::vector<double>{0, 0, 0}));
}

TEST(Lanczos, ToleranceBelowWhatIsAttainableIsSaid) {
  const auto matrix = generate<double, I>("anderson:8x8x8");
  for (const bool at_once : {false, true}) {
    const EigenOptions options{.count = 3, .tolerance = 1e-19, .most_products = 20'000};
    const auto found =
        at_once ? by_ca_lanczos(matrix, {.eigen = options, .s = 4}) : by_lanczos(matrix, options);
    EXPECT_EQ(found.result.status, SolveStatus::stagnated) << found.result.message;
    EXPECT_NE(found.result.message.find("stays at"), std::string::npos);
    for (const double residual : found.result.residuals) EXPECT_LT(residual, 1e-13);
  }
}

TEST(Lanczos, BadInputIsRefusedOrSurvived) {
  const auto matrix = generate<double, I>("stencil5:10x10");
  EXPECT_THROW(by_lanczos(matrix, {.count = 101}), InvalidArgument);
  EXPECT_THROW(by_lanczos(matrix, {.count = 0}), InvalidArgument);
  EXPECT_THROW(by_lanczos(matrix, {.tolerance = 0}), InvalidArgument);
  EXPECT_THROW(by_lanczos(matrix, {.count = 6, .subspace = 7}), InvalidArgument);
  EXPECT_THROW(by_ca_lanczos(matrix, {.s = 0}), InvalidArgument);

  Eigen::MatrixXd broken = dense(matrix);
  broken(3, 3) = std::nan("");
  EXPECT_EQ(by_lanczos(sparse(broken), {}).result.status, SolveStatus::not_finite);

  const auto large = generate<double, I>("stencil5:80x80");
  const auto few = by_lanczos(large, {.tolerance = 1e-12, .most_products = 60});
  EXPECT_EQ(few.result.status, SolveStatus::most_iterations);
  EXPECT_EQ(few.result.values.size(), 6u);
  EXPECT_EQ(few.result.residuals.size(), 6u);
  int calls = 0;
  const auto stopped =
      by_lanczos(large, {.tolerance = 1e-12, .progress = [&](const EigenIteration& now) {
                           EXPECT_EQ(now.number, ++calls);
                           return now.number < 3;
                         }});
  EXPECT_EQ(stopped.result.status, SolveStatus::stopped);
  EXPECT_EQ(stopped.result.restarts, 3);
  EXPECT_EQ(stopped.result.values.size(), 6u);
}

TEST(CaLanczos, ABasisThatIsTooLongIsMadeShorterAndSaid) {
  const auto matrix = generate<double, I>("anderson:10x10x10");
  const EigenOptions options{.count = 4, .tolerance = 1e-12, .subspace = 120};
  const auto found = by_ca_lanczos(matrix, {.eigen = options, .s = 40});
  EXPECT_EQ(found.result.status, SolveStatus::converged) << found.result.message;
  expect_eigenpairs(matrix, found, expected(spectrum_of(matrix), Wanted::largest, 4), 1e-12);
  ASSERT_FALSE(found.result.remarks.empty());
  EXPECT_NE(found.result.remarks[0].find("told apart"), std::string::npos)
      << found.result.remarks[0];
}

}  // namespace
}  // namespace strata::solvers
