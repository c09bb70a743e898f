// Exponentials of matrices times vectors, against Eigen's scaling and squaring of dense matrices.

#include "strata/solvers/exponential.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"
#include "strata/solvers/exponential_polynomial.hpp"
#include "tests/solvers/functions_support.hpp"

namespace strata::solvers {
namespace {

using I = std::int32_t;
using Complex = std::complex<double>;
using test::dense;
using test::sparse;

ExponentialOptions quick(ExponentialMethod method, double tolerance = 1e-12) {
  return {.method = method, .tolerance = tolerance, .threads = 2, .autotune = false};
}

template <class V>
double distance(const std::vector<V>& a, const Eigen::Matrix<V, -1, 1>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::norm(a[i] - b(static_cast<int>(i)));
  return std::sqrt(sum);
}

template <class V>
Eigen::Matrix<V, -1, 1> as_eigen(const std::vector<V>& v) {
  return Eigen::Map<const Eigen::Matrix<V, -1, 1>>(v.data(), static_cast<int>(v.size()));
}

// A matrix of any kind, not normal.
template <class V>
Csr<V, I> general(int n, double scale) {
  Eigen::Matrix<V, -1, -1> full = Eigen::Matrix<V, -1, -1>::Zero(n, n);
  const Random random(4, 9);
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) {
      const auto at = static_cast<std::size_t>(row * n + column);
      if (random.uniform(at) < 0.2 || row == column) {
        full(row, column) = V(scale) * test::random_value<V>(Random(4, 10), at);
      }
    }
  }
  return sparse(full);
}

template <class V>
void expect_exponential(const Csr<V, I>& matrix, ExponentialMethod method, double time) {
  const auto v = test::random_vector<V>(static_cast<std::size_t>(matrix.rows()), 5);
  std::vector<V> y(v.size());
  MatrixExponential<V, I> exponential(matrix, quick(method));
  const ExponentialResult result = exponential.apply(time, v, y);
  const Eigen::Matrix<V, -1, -1> scaled = V(time) * dense(matrix);
  const Eigen::Matrix<V, -1, -1> whole = test::exponential(scaled);
  const Eigen::Matrix<V, -1, 1> exact = whole * as_eigen(v);
  const double size = whole.norm() / std::sqrt(static_cast<double>(v.size())) + exact.norm();
  EXPECT_LE(distance(y, exact), 1e-12 * std::max(size, 1.0) * as_eigen(v).norm())
      << name_of(result.method) << " " << time << " " << result.degree << " " << result.steps;
  EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
  EXPECT_LE(result.error, 1e-12);
  EXPECT_EQ(result.time, time);
  EXPECT_GE(result.products, Offset{result.degree} * result.steps);
}

TEST(Exponential, OfHermitianMatricesByAllMethods) {
  for (const char* spec : {"stencil5:8x7", "anderson:4x4x4", "fem:5x5,degree=2"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    for (const ExponentialMethod method : kExponentialMethods) {
      for (const double time : {-2.0, -0.1, 0.0, 0.5}) expect_exponential(matrix, method, time);
    }
  }
  for (const ExponentialMethod method : kExponentialMethods) {
    expect_exponential(generate<Complex, I>("topi:3x3x2"), method, -0.7);
  }
}

TEST(Exponential, OfGeneralMatrices) {
  for (const ExponentialMethod method :
       {ExponentialMethod::automatic, ExponentialMethod::taylor, ExponentialMethod::leja}) {
    SCOPED_TRACE(name_of(method));
    for (const double time : {-0.5, 1.0, 3.0}) {
      expect_exponential(general<double>(30, 0.4), method, time);
      expect_exponential(general<Complex>(25, 0.4), method, time);
    }
    // Eigenvalues on the imaginary axis: the Leja points come in pairs.
    Eigen::MatrixXd rotation = Eigen::MatrixXd::Zero(20, 20);
    for (int i = 0; i + 1 < 20; ++i) {
      rotation(i, i + 1) = 1.5;
      rotation(i + 1, i) = -1.5;
    }
    expect_exponential(sparse(rotation), method, 4);
  }
}

TEST(Exponential, OfSinglePrecision) {
  const auto matrix = generate<float, I>("stencil5:8x7");
  const auto v = test::random_vector<float>(56, 5);
  std::vector<float> y(56);
  for (const ExponentialMethod method : kExponentialMethods) {
    MatrixExponential<float, I> exponential(matrix, quick(method, 1e-5));
    EXPECT_EQ(exponential.apply(-1, v, y).status, SolveStatus::converged);
    const Eigen::MatrixXd whole = test::exponential<double>(-dense(matrix).cast<double>());
    EXPECT_LE(distance<float>(y, whole.cast<float>() * as_eigen(v)), 1e-4);
  }
}

TEST(Exponential, ImaginaryTimeKeepsTheNorm) {
  const auto matrix = generate<Complex, I>("topi:3x3x3");
  const auto v = test::random_vector<Complex>(static_cast<std::size_t>(matrix.rows()), 5);
  std::vector<Complex> y(v.size());
  for (const ExponentialMethod method : kExponentialMethods) {
    MatrixExponential<Complex, I> exponential(matrix, quick(method));
    for (const double time : {-0.4, 2.5}) {
      const auto result = exponential.apply_imaginary(time, v, y);
      EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
      const auto exact = test::exponential<Complex>(Complex(0, -time) * dense(matrix));
      EXPECT_LE(distance<Complex>(y, exact * as_eigen(v)), 1e-12 * as_eigen(v).norm());
      EXPECT_NEAR(as_eigen(y).norm(), as_eigen(v).norm(), 1e-12 * as_eigen(v).norm());
    }
  }
  MatrixExponential<double, I> real(generate<double, I>("stencil5:3x3"));
  std::vector<double> nine(9, 1.0), result(9);
  EXPECT_THROW(real.apply_imaginary(1, nine, result), InvalidArgument);
}

// A sine mode of the Laplacian decays by its eigenvalue: a long time, in one sweep and in steps.
TEST(Exponential, OfALargeLaplacianDecaysAsItsEigenvaluesDo) {
  const int n = 50;
  auto matrix = generate<double, I>("stencil5:50x50,shuffle=1");
  for (double& value : matrix.mutable_values()) value = -value;
  const auto plain = generate<double, I>("stencil5:50x50");
  // Of the matrix that is not shuffled: an eigenvector.
  std::vector<double> mode;
  for (int y = 1; y <= n; ++y) {
    for (int x = 1; x <= n; ++x) {
      mode.push_back(std::sin(2 * x * std::numbers::pi / (n + 1)) *
                     std::sin(y * std::numbers::pi / (n + 1)));
    }
  }
  const double eigenvalue =
      4 - 2 * std::cos(2 * std::numbers::pi / (n + 1)) - 2 * std::cos(std::numbers::pi / (n + 1));
  auto decaying = plain;
  for (double& value : decaying.mutable_values()) value = -value;
  std::vector<double> y(mode.size());
  for (const int most_degree : {1000, 20}) {
    ExponentialOptions options = quick(ExponentialMethod::chebyshev);
    options.most_degree = most_degree;
    MatrixExponential<double, I> exponential(decaying, options);
    const double time = 40;
    const auto result = exponential.apply(time, mode, y);
    EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
    EXPECT_LE(result.degree, most_degree);
    if (most_degree == 20) {
      EXPECT_GT(result.steps, 1);
    } else {
      EXPECT_LT(result.products, 200);
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
      ASSERT_NEAR(y[i], std::exp(-eigenvalue * time) * mode[i], 1e-12);
    }
  }
  // The order of the rows, which the plan changes, does not matter: the sum of all elements.
  const std::vector<double> ones(2500, 1.0);
  std::vector<double> of_shuffled(2500), of_plain(2500);
  MatrixExponential<double, I>(matrix, quick(ExponentialMethod::automatic))
      .apply(3, ones, of_shuffled);
  MatrixExponential<double, I>(decaying, quick(ExponentialMethod::automatic))
      .apply(3, ones, of_plain);
  double difference = 0;
  for (std::size_t i = 0; i < ones.size(); ++i) difference += of_shuffled[i] - of_plain[i];
  EXPECT_NEAR(difference, 0, 1e-9);
}

TEST(Exponential, PhiFunctionsAreThoseOfTheDenseMatrix) {
  // φ_k(A) = A⁻¹(φ_{k−1}(A) − 1/(k − 1)!), of matrices that are far from singular.
  const auto symmetric = generate<double, I>("stencil5:6x5");
  for (const bool hermitian : {true, false}) {
    Eigen::MatrixXd full = dense(symmetric);
    if (!hermitian) {
      full = dense(general<double>(30, 0.3));
      full += 2 * Eigen::MatrixXd::Identity(30, 30);
    }
    const auto matrix = sparse(full);
    const auto v = test::random_vector<double>(30, 8);
    std::vector<double> y(30);
    for (const ExponentialMethod method : kExponentialMethods) {
      if (!hermitian && method == ExponentialMethod::chebyshev) continue;
      SCOPED_TRACE(name_of(method));
      MatrixExponential<double, I> exponential(matrix, quick(method));
      const double time = -0.8;
      const Eigen::MatrixXd scaled = time * full;
      Eigen::VectorXd exact = test::exponential(scaled) * as_eigen(v);
      double factorial = 1;
      for (int k = 0; k <= 4; ++k) {
        const auto result = exponential.phi(k, time, v, y);
        EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
        EXPECT_LE(distance(y, exact), 1e-12 * as_eigen(v).norm()) << k;
        exact = test::solution<double>(scaled, exact - as_eigen(v) / factorial);
        factorial *= k + 1;
      }
    }
  }
}

// A long vector must not widen the field of values that Leja points are chosen for.
TEST(Exponential, PhiFunctionsOfLongVectorsInSinglePrecision) {
  const auto matrix = generate<float, I>("stencil5:20x15");
  const auto v = test::random_vector<float>(300, 8);
  const auto in_double = generate<double, I>("stencil5:20x15");
  const std::vector<double> v_double(v.begin(), v.end());
  std::vector<double> exact(300);
  MatrixExponential<double, I>(in_double, quick(ExponentialMethod::chebyshev))
      .phi(2, -0.3, v_double, exact);
  for (const ExponentialMethod method : kExponentialMethods) {
    SCOPED_TRACE(name_of(method));
    std::vector<float> y(300);
    MatrixExponential<float, I> exponential(matrix, quick(method, 1e-5));
    const auto result = exponential.phi(2, -0.3, v, y);
    EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
    EXPECT_LE(result.products, 40);
    for (std::size_t i = 0; i < 300; ++i) ASSERT_NEAR(y[i], exact[i], 1e-5) << i;
  }
}

// Their matrices are far from normal: terms of interpolations grow, and single precision shows it.
TEST(Exponential, PhiFunctionsInSinglePrecisionAreThoseInDouble) {
  for (const char* spec : {"stencil5:12x11,shuffle=1", "random:70,nnzr=5,seed=3"}) {
    const auto exact = generate<double, I>(spec);
    const auto matrix = generate<float, I>(spec);
    const auto v = test::random_vector<double>(static_cast<std::size_t>(exact.rows()), 8);
    const std::vector<float> start(v.begin(), v.end());
    std::vector<double> expected(v.size());
    std::vector<float> y(v.size());
    MatrixExponential<double, I> in_double(exact, quick(ExponentialMethod::taylor));
    for (const double time : {-0.3, 0.5}) {
      ASSERT_EQ(in_double.phi(2, time, v, expected).status, SolveStatus::converged);
      for (const ExponentialMethod method : kExponentialMethods) {
        if (spec[0] == 'r' && method == ExponentialMethod::chebyshev) continue;
        SCOPED_TRACE(testing::Message() << spec << " " << name_of(method) << " " << time);
        MatrixExponential<float, I> exponential(matrix, quick(method, 1e-5));
        const auto result = exponential.phi(2, time, start, y);
        EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
        EXPECT_LE(result.error, 1e-5);
        EXPECT_LE(distance(std::vector<double>(y.begin(), y.end()), as_eigen(expected)),
                  2e-4 * as_eigen(expected).norm());
      }
    }
  }
}

TEST(Exponential, TaylorRadiiAreThoseOfThePaper) {
  // Table 3.1 of Al-Mohy and Higham, for 2^−24 and 2^−53.
  const double single = std::ldexp(1.0, -24), unit = std::ldexp(1.0, -53);
  EXPECT_NEAR(taylor_radius(10, single), 1.0, 0.05);
  EXPECT_NEAR(taylor_radius(20, single), 3.6, 0.05);
  EXPECT_NEAR(taylor_radius(55, single), 13, 0.5);
  EXPECT_NEAR(taylor_radius(10, unit), 0.14, 0.005);
  EXPECT_NEAR(taylor_radius(20, unit), 1.4, 0.05);
  EXPECT_NEAR(taylor_radius(55, unit), 9.9, 0.05);
}

TEST(Exponential, TinyMatricesAndZeroVectors) {
  for (const ExponentialMethod method : kExponentialMethods) {
    MatrixExponential<double, I> one(sparse(Eigen::MatrixXd::Constant(1, 1, 3.0)), quick(method));
    std::vector<double> v{2}, y(1);
    EXPECT_EQ(one.apply(0.5, v, y).status, SolveStatus::converged);
    EXPECT_NEAR(y[0], 2 * std::exp(1.5), 1e-11);
    MatrixExponential<double, I> none(Csr<double, I>(), quick(method));
    std::vector<double> empty;
    EXPECT_EQ(none.apply(1, empty, empty).status, SolveStatus::converged);
    // All eigenvalues are 0.
    MatrixExponential<double, I> zero(Csr<double, I>(4, 4, Array<Offset>(5, 0), {}, {}),
                                      quick(method));
    std::vector<double> four{1, 2, 3, 4}, result(4);
    EXPECT_EQ(zero.apply(7, four, result).status, SolveStatus::converged);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(result[i], four[i], 1e-11);
    const std::vector<double> nothing(4);
    const auto trivial = zero.apply(7, nothing, result);
    EXPECT_EQ(trivial.products, 0);
    EXPECT_EQ(result, nothing);
  }
}

TEST(Exponential, SweepsAreComparedWithBarePowers) {
  const auto matrix = generate<double, I>("stencil5:30x30");
  const std::vector<double> v(900, 1.0);
  std::vector<double> y(900), again(900);
  ExponentialOptions options = quick(ExponentialMethod::automatic);
  const auto plain = MatrixExponential<double, I>(matrix, options).apply(-2, v, y);
  EXPECT_GT(plain.product.in_method, 0);
  EXPECT_EQ(plain.product.bare, 0);
  EXPECT_FALSE(plain.variant.empty());
  options.time_bare = true;
  const auto timed = MatrixExponential<double, I>(matrix, options).apply(-2, v, again);
  EXPECT_GT(timed.product.bare, 0);
  EXPECT_EQ(y, again);
  EXPECT_LE(timed.times.products, timed.times.total);
}

TEST(Exponential, BadInputIsRefusedOrSaid) {
  const auto matrix = generate<double, I>("stencil5:4x4");
  std::vector<double> v(16, 1.0), y(16), few(3);
  MatrixExponential<double, I> exponential(matrix, quick(ExponentialMethod::automatic));
  EXPECT_THROW(exponential.apply(1, few, y), InvalidArgument);
  EXPECT_THROW(exponential.apply(std::nan(""), v, y), InvalidArgument);
  EXPECT_THROW(exponential.phi(-1, 1, v, y), InvalidArgument);
  EXPECT_THROW(exponential.apply(1e4, v, y), InvalidArgument);  // e^{8e4}
  v[3] = std::nan("");
  EXPECT_EQ(exponential.apply(1, v, y).status, SolveStatus::not_finite);

  EXPECT_THROW(
      (MatrixExponential<double, I>(general<double>(8, 1), quick(ExponentialMethod::chebyshev))),
      InvalidArgument);
  EXPECT_THROW((MatrixExponential<double, I>(matrix, quick(ExponentialMethod::taylor, 0))),
               InvalidArgument);
  const Csr<double, I> wide(2, 3, Array<Offset>(3, 0), {}, {});
  EXPECT_THROW((MatrixExponential<double, I>(wide)), InvalidArgument);
  Eigen::MatrixXd broken = dense(matrix);
  broken(2, 2) = std::nan("");
  EXPECT_THROW((MatrixExponential<double, I>(sparse(broken))), InvalidArgument);

  // A tolerance below rounding is said; the result is as good as it gets.
  MatrixExponential<double, I> exact(matrix, quick(ExponentialMethod::automatic, 1e-30));
  v[3] = 1;
  const auto result = exact.apply(-1, v, y);
  EXPECT_EQ(result.status, SolveStatus::stagnated);
  EXPECT_LT(result.error, 1e-13);

  ExponentialOptions stopping = quick(ExponentialMethod::taylor);
  stopping.progress = [](int step, int steps) { return step < steps / 2; };
  MatrixExponential<double, I> stopped(matrix, stopping);
  const auto half = stopped.apply(-20, v, y);
  EXPECT_EQ(half.status, SolveStatus::stopped);
  EXPECT_LT(half.time, 0);
  EXPECT_GT(half.time, -20);
  const Eigen::VectorXd there = test::exponential<double>(half.time * dense(matrix)) * as_eigen(v);
  EXPECT_LE(distance(y, there), 1e-12);
}

}  // namespace
}  // namespace strata::solvers
