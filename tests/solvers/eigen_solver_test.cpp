// Eigenpairs as users compute them: by plans, in any type, with rows that plans reorder; interior
// ones by filters, and densities, against Eigen and analytic spectra.

#include "strata/solvers/eigen_solver.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"
#include "strata/solvers/dense.hpp"
#include "strata/solvers/density_of_states.hpp"
#include "strata/solvers/hermitian.hpp"
#include "tests/solvers/eigen_support.hpp"
#include "tests/solvers/functions_support.hpp"

namespace strata::solvers {
namespace {

using I = std::int32_t;
using Complex = std::complex<double>;
using test::dense;
using test::expect_residuals;
using test::laplacian_spectrum;
using test::sparse;
using test::spectrum_of;

EigenSolverOptions quick(EigenMethod method, const EigenOptions& eigen) {
  return {.method = method, .eigen = eigen, .threads = 2, .autotune = false};
}

TEST(EigenSolver, OrderAndPaddingOfAPlanLeaveNoTrace) {
  // A padded row would add an eigenvalue 0, below all of these.
  const auto values = laplacian_spectrum(31, 29);
  const auto matrix = generate<double, I>("stencil5:31x29,shuffle=1");
  for (const EigenMethod method : {EigenMethod::lanczos, EigenMethod::ca_lanczos}) {
    SCOPED_TRACE(name_of(method));
    const auto pairs = eigenpairs(
        matrix, quick(method, {.count = 4, .which = Wanted::smallest, .tolerance = 1e-11}));
    EXPECT_EQ(pairs.result.status, SolveStatus::converged) << pairs.result.message;
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(pairs.result.values[k], values[k], 1e-10);
    expect_residuals(matrix, pairs, 1e-11);
    EXPECT_GE(pairs.result.times.total, pairs.result.times.products);
  }
}

TEST(EigenSolver, OfALargeBoxAgainstItsAnalyticSpectrum) {
  const int n = 24;
  const auto matrix = generate<double, I>("stencil7:24x24x24");
  const double largest = 6 + 6 * std::cos(std::numbers::pi / (n + 1));
  const auto next =
      6 + 4 * std::cos(std::numbers::pi / (n + 1)) + 2 * std::cos(2 * std::numbers::pi / (n + 1));
  for (const EigenMethod method : {EigenMethod::lanczos, EigenMethod::ca_lanczos}) {
    const auto pairs = eigenpairs(matrix, quick(method, {.count = 4, .tolerance = 1e-9}));
    EXPECT_EQ(pairs.result.status, SolveStatus::converged) << pairs.result.message;
    EXPECT_NEAR(pairs.result.values[0], largest, 1e-9);
    for (std::size_t k = 1; k < 4; ++k)
      EXPECT_NEAR(pairs.result.values[k], next, 1e-9);  // threefold
  }
}

TEST(EigenSolver, PowerIterationFindsTheDominantEigenvalueOfAnyMatrix) {
  Eigen::MatrixXd full = Eigen::MatrixXd::Random(40, 40).cwiseAbs();
  const auto matrix = sparse(full);
  const auto pairs = eigenpairs(matrix, quick(EigenMethod::power, {.tolerance = 1e-12}));
  EXPECT_EQ(pairs.result.status, SolveStatus::converged) << pairs.result.message;
  EXPECT_NEAR(pairs.result.values.at(0), test::eigenvalues(full).cwiseAbs().maxCoeff(), 1e-10);
  expect_residuals(matrix, pairs, 1e-11);
  // A rotation has none that is real.
  Eigen::MatrixXd turn(2, 2);
  turn << 0, 1, -1, 0;
  EXPECT_EQ(eigenpairs(sparse(turn), quick(EigenMethod::power, {})).result.status,
            SolveStatus::stagnated);
  // A nilpotent matrix leaves nothing.
  Eigen::MatrixXd shift = Eigen::MatrixXd::Zero(3, 3);
  shift(0, 1) = shift(1, 2) = 1;
  const auto nothing = eigenpairs(sparse(shift), quick(EigenMethod::power, {}));
  EXPECT_EQ(nothing.result.values.at(0), 0);
  EXPECT_NEAR(std::abs(nothing.vectors.at(0)), 1, 1e-15);
}

template <class V>
class Filter : public testing::Test {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Filter, Values);

TYPED_TEST(Filter, FindsAllEigenvaluesInAnInterval) {
  using V = TypeParam;
  const bool single = std::is_same_v<decltype(std::abs(V())), float>;
  const double tolerance = single ? 2e-5 : 1e-10;
  const auto matrix = generate<V, I>(is_complex<V> ? "topi:4x4x4" : "anderson:8x8x7");
  const auto values = spectrum_of(matrix);
  std::size_t first = values.size() / 3, count = 12;
  EigenSolverOptions options = quick(EigenMethod::filter, {.tolerance = tolerance});
  options.interval = test::interval_between(values, first, count);
  const auto pairs = eigenpairs(matrix, options);
  EXPECT_EQ(pairs.result.status, SolveStatus::converged) << pairs.result.message;
  ASSERT_EQ(pairs.result.values.size(), count);
  for (std::size_t k = 0; k < count; ++k) {
    EXPECT_NEAR(pairs.result.values[k], values[first + k], (single ? 1e-3 : 1e-8));
  }
  expect_residuals(matrix, pairs, tolerance);
}

TEST(Filter, FindsThoseNearestToATarget) {
  const auto values = laplacian_spectrum(23, 18);
  const auto matrix = generate<double, I>("stencil5:23x18,shuffle=1");
  EigenSolverOptions options = quick(EigenMethod::filter, {.count = 7, .tolerance = 1e-10});
  options.target = 3.05;
  const auto pairs = eigenpairs(matrix, options);
  EXPECT_EQ(pairs.result.status, SolveStatus::converged) << pairs.result.message;
  std::vector<double> nearest = values;
  std::sort(nearest.begin(), nearest.end(),
            [](double a, double b) { return std::abs(a - 3.05) < std::abs(b - 3.05); });
  nearest.resize(7);
  std::sort(nearest.begin(), nearest.end());
  ASSERT_EQ(pairs.result.values.size(), 7u);
  for (std::size_t k = 0; k < 7; ++k) EXPECT_NEAR(pairs.result.values[k], nearest[k], 1e-9);
  expect_residuals(matrix, pairs, 1e-10);
}

TEST(Filter, TooFewVectorsAreSaidOrMadeMore) {
  const auto matrix = generate<double, I>("stencil5:20x20");
  EigenSolverOptions options = quick(EigenMethod::filter, {.tolerance = 1e-8});
  options.interval = ChebyshevInterval{1.01, 3.03};
  options.vectors = 8;
  const auto pairs = eigenpairs(matrix, options);
  EXPECT_EQ(pairs.result.status, SolveStatus::breakdown);
  EXPECT_NE(pairs.result.message.find("too few"), std::string::npos);
  // An interval without eigenvalues is a result, too.
  options.vectors = 0;
  options.interval = ChebyshevInterval{20, 21};
  const auto empty = eigenpairs(matrix, options);
  EXPECT_EQ(empty.result.status, SolveStatus::converged) << empty.result.message;
  EXPECT_TRUE(empty.result.values.empty());
}

TEST(EigenSolver, TinyMatricesAndWholeSpectra) {
  const auto one = sparse(Eigen::MatrixXd::Constant(1, 1, 3.0));
  for (const EigenMethod method : kEigenMethods) {
    SCOPED_TRACE(name_of(method));
    EigenSolverOptions options = quick(method, {.count = 1});
    options.interval = ChebyshevInterval{2.5, 3.5};
    const auto pairs = eigenpairs(one, options);
    EXPECT_EQ(pairs.result.status, SolveStatus::converged) << pairs.result.message;
    ASSERT_EQ(pairs.result.values.size(), 1u);
    EXPECT_NEAR(pairs.result.values[0], 3, 1e-12);
    EXPECT_NEAR(std::abs(pairs.vectors.at(0)), 1, 1e-6);
  }
  // As many vectors as rows.
  const auto matrix = generate<double, I>("stencil5:8x2");
  EigenSolverOptions options = quick(EigenMethod::filter, {.tolerance = 1e-10});
  options.interval = ChebyshevInterval{0, 8};
  const auto pairs = eigenpairs(matrix, options);
  EXPECT_EQ(pairs.result.status, SolveStatus::converged) << pairs.result.message;
  const auto values = laplacian_spectrum(8, 2);
  ASSERT_EQ(pairs.result.values.size(), values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    EXPECT_NEAR(pairs.result.values[k], values[k], 1e-9);
  }
}

TEST(EigenSolver, BadInputIsRefused) {
  const auto matrix = generate<double, I>("stencil5:5x5");
  const auto hermitian_only = {EigenMethod::lanczos, EigenMethod::ca_lanczos, EigenMethod::filter};
  const auto general = generate<double, I>("random:30,nnzr=4,seed=3");
  const Csr<double, I> wide(2, 3, Array<Offset>(3, 0), {}, {});
  Eigen::MatrixXd broken = dense(matrix);
  broken(2, 2) = std::numeric_limits<double>::infinity();
  for (const EigenMethod method : kEigenMethods) {
    EXPECT_THROW(eigenpairs(wide, quick(method, {})), InvalidArgument);
    EXPECT_THROW(eigenpairs(sparse(broken), quick(method, {})), InvalidArgument);
    EXPECT_THROW(eigenpairs(Csr<double, I>(), quick(method, {})), InvalidArgument);
  }
  for (const EigenMethod method : hermitian_only) {
    EXPECT_THROW(eigenpairs(general, quick(method, {})), InvalidArgument);
  }
  EXPECT_THROW(eigenpairs(matrix, quick(EigenMethod::filter, {})), InvalidArgument);
  EXPECT_THROW(eigenpairs(matrix, quick(EigenMethod::lanczos, {.count = 26})), InvalidArgument);
  // Complex and symmetric is not Hermitian.
  Eigen::MatrixXcd symmetric = Eigen::MatrixXcd::Identity(3, 3);
  symmetric(0, 1) = symmetric(1, 0) = Complex(0, 1);
  EXPECT_THROW(eigenpairs(sparse(symmetric), quick(EigenMethod::lanczos, {.count = 1})),
               InvalidArgument);
}

// What a method adds to powers is told by its own sweeps and by bare ones of the same plan.
TEST(EigenSolver, SweepsAreComparedWithBarePowers) {
  const auto matrix = generate<double, I>("stencil5:40x30");
  for (const EigenMethod method : {EigenMethod::ca_lanczos, EigenMethod::filter}) {
    SCOPED_TRACE(name_of(method));
    EigenSolverOptions options = quick(method, {.count = 2, .tolerance = 1e-6});
    options.target = 3.05;
    const auto plain = eigenpairs(matrix, options);
    EXPECT_GT(plain.product.in_method, 0);
    EXPECT_EQ(plain.product.bare, 0);
    EXPECT_FALSE(plain.variant.empty());
    options.time_bare = true;
    const auto timed = eigenpairs(matrix, options);
    EXPECT_GT(timed.product.bare, 0);
    EXPECT_EQ(timed.result.values, plain.result.values);
    EXPECT_LE(timed.product.in_method * static_cast<double>(timed.result.products) * 0.5,
              timed.result.times.total);
  }
  const auto density = density_of_states(
      matrix, {.moments = 16, .vectors = 8, .threads = 2, .autotune = false, .time_bare = true});
  EXPECT_GT(density.product.bare, 0);
  EXPECT_GT(density.product.in_method, 0);
  const auto lanczos = eigenpairs(matrix, quick(EigenMethod::lanczos, {.count = 2}));
  EXPECT_EQ(lanczos.product.in_method, 0);
  EXPECT_FALSE(lanczos.variant.empty());
}

TEST(Hermitian, ChecksNameTheEntryAndFieldsOfValuesHoldTheirs) {
  const auto general = generate<double, I>("random:30,nnzr=4,seed=3");
  try {
    require_hermitian(general, "lanczos");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("lanczos needs a symmetric matrix"), std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(is_hermitian(generate<Complex, I>("topi:3x3x3")));
  EXPECT_TRUE(is_hermitian(generate<double, I>("fem:8x8,degree=3")));
  const auto field = field_of_values(general);
  const Eigen::MatrixXd full = dense(general);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto values = test::random_vector<Complex>(30, seed);
    Eigen::VectorXcd x = Eigen::Map<const Eigen::VectorXcd>(values.data(), 30);
    x.normalize();
    const Complex quotient = x.dot(full.cast<Complex>() * x);
    EXPECT_GE(quotient.real(), field.real_low);
    EXPECT_LE(quotient.real(), field.real_high);
    EXPECT_GE(quotient.imag(), field.imaginary_low);
    EXPECT_LE(quotient.imag(), field.imaginary_high);
  }
}

// All eigenvalues of the Laplacian, counted below some energies.
TEST(DensityOfStates, CountsEigenvaluesWithinItsResolution) {
  const auto values = laplacian_spectrum(40, 37);
  const auto matrix = generate<double, I>("stencil5:40x37,shuffle=1");
  const auto density =
      density_of_states(matrix, {.moments = 256, .vectors = 64, .threads = 2, .autotune = false});
  EXPECT_EQ(density.status, SolveStatus::converged);
  EXPECT_EQ(density.vectors, 64);
  EXPECT_NEAR(density.moments[0], 1, 1e-14);
  for (double energy = 0.5; energy < 8; energy += 0.5) {
    const auto below = static_cast<double>(std::lower_bound(values.begin(), values.end(), energy) -
                                           values.begin());
    EXPECT_NEAR(density.below(energy), below / static_cast<double>(values.size()), 0.02) << energy;
  }
  double integral = 0;
  const double step = (density.interval.high - density.interval.low) / 20000;
  for (int k = 0; k < 20000; ++k) {
    const double value = density.at(density.interval.low + (k + 0.5) * step);
    EXPECT_GE(value, 0);
    integral += value * step;
  }
  EXPECT_NEAR(integral, 1, 1e-3);
  EXPECT_EQ(density.at(density.interval.high + 1), 0);
  EXPECT_EQ(density.below(density.interval.high + 1), 1);
}

// With all unit vectors instead of random ones the moments are traces: their first ones are known.
TEST(DensityOfStates, MomentsAreTraces) {
  const auto matrix = generate<double, I>("stencil5:30x30");
  const auto values = laplacian_spectrum(30, 30);
  const auto density =
      density_of_states(matrix, {.moments = 40, .vectors = 512, .threads = 2, .autotune = false});
  const auto damping = jackson_damping(40);
  for (std::size_t n = 0; n < 40; ++n) {
    double trace = 0;
    for (const double value : values) {
      trace += std::cos(static_cast<double>(n) *
                        std::acos((value - density.interval.centre()) / density.interval.radius()));
    }
    EXPECT_NEAR(density.moments[n] / damping[n], trace / 900, 0.012) << n;
  }
}

TEST(DensityOfStates, DependsOnTheSeedAlone) {
  const auto matrix = generate<Complex, I>("topi:4x4x3");
  const auto of = [&](std::uint64_t seed, int threads) {
    return density_of_states(
        matrix, {.moments = 64, .vectors = 8, .seed = seed, .threads = threads, .autotune = false});
  };
  const auto one = of(1, 1), two = of(1, 2), other = of(2, 1);
  for (std::size_t n = 0; n < 64; ++n) EXPECT_NEAR(one.moments[n], two.moments[n], 1e-12);
  EXPECT_NE(one.moments[2], other.moments[2]);
  const auto stopped = density_of_states(
      matrix, {.moments = 64, .vectors = 32, .autotune = false, .progress = [](double fraction) {
                 return fraction < 0.4;
               }});
  EXPECT_EQ(stopped.status, SolveStatus::stopped);
  EXPECT_EQ(stopped.vectors, 8);
  EXPECT_NEAR(stopped.moments.at(0), 1, 1e-14);
}

TEST(DensityOfStates, BadInputIsRefused) {
  EXPECT_THROW(density_of_states(generate<double, I>("random:30,nnzr=4,seed=3")), InvalidArgument);
  EXPECT_THROW(density_of_states(Csr<double, I>()), InvalidArgument);
  const auto matrix = generate<double, I>("stencil5:5x5");
  EXPECT_THROW(density_of_states(matrix, {.moments = 1}), InvalidArgument);
  EXPECT_THROW(density_of_states(matrix, {.vectors = 0}), InvalidArgument);
  const auto tiny = density_of_states(sparse(Eigen::MatrixXd::Constant(1, 1, 2.0)),
                                      {.moments = 32, .autotune = false});
  EXPECT_NEAR(tiny.below(1.9), 0, 0.01);
  EXPECT_NEAR(tiny.below(2.1), 1, 0.01);
}

}  // namespace
}  // namespace strata::solvers
