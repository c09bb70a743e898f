// Exponentials on a GPU: the vectors of the processors, in every type and by every method.

#include "strata/solvers/gpu/exponential.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"
#include "tests/solvers/gpu/numbers.hpp"
#include "tests/support/gpu.hpp"

namespace strata::gpu {
namespace {

using I = std::int32_t;
using solvers::ExponentialMethod;
using solvers::ExponentialOptions;
using solvers::ExponentialResult;
using solvers::SolveStatus;

template <class V>
constexpr double kTolerance = std::is_same_v<decltype(std::abs(V())), float> ? 1e-5 : 1e-12;

ExponentialOptions quick(ExponentialMethod method, double tolerance) {
  return {.method = method, .tolerance = tolerance, .threads = 2, .autotune = false};
}

template <class V>
double distance(const std::vector<V>& a, const std::vector<V>& b) {
  double sum = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::norm(a[i] - b[i]);
    size += std::norm(b[i]);
  }
  return std::sqrt(sum / size);
}

template <class V>
class GpuExponentials : public test::GpuTest {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GpuExponentials, Values);

TYPED_TEST(GpuExponentials, EveryMethodAndFunctionGivesWhatProcessorsGive) {
  using V = TypeParam;
  Stream stream;
  for (const char* spec : {"stencil5:12x11,shuffle=1", "random:70,nnzr=5,seed=3"}) {
    const auto matrix = generate<V, I>(spec);
    const auto v = test::solver_numbers<V>(matrix.rows(), 5);
    for (const ExponentialMethod method : solvers::kExponentialMethods) {
      SCOPED_TRACE(std::string(spec) + " " + std::string(name_of(method)));
      const ExponentialOptions options = quick(method, kTolerance<V>);
      const bool hermitian = spec[0] == 's';
      if (!hermitian && method == ExponentialMethod::chebyshev) {
        EXPECT_THROW(MatrixExponential<V>(matrix, options, stream), InvalidArgument);
        continue;
      }
      MatrixExponential<V> there(matrix, options, stream);
      solvers::MatrixExponential<V, I> here(matrix, options);
      EXPECT_EQ(there.hermitian(), hermitian);
      std::vector<V> found(v.size()), expected(v.size());
      const auto compare = [&](const ExponentialResult& result, const ExponentialResult& same) {
        EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
        EXPECT_EQ(same.status, SolveStatus::converged) << same.message;
        EXPECT_LE(result.error, kTolerance<V>);
        EXPECT_EQ(result.method, same.method);
        EXPECT_EQ(result.time, same.time);
        EXPECT_FALSE(result.variant.empty());
        EXPECT_GE(result.times.total, result.times.products);
        EXPECT_GT(result.times.products, 0);
        EXPECT_LE(distance(found, expected), 20 * kTolerance<V>);
      };
      for (const double time : {-0.5, 0.2}) {
        compare(there.apply(time, v, found), here.apply(time, v, expected));
      }
      compare(there.phi(2, -0.3, v, found), here.phi(2, -0.3, v, expected));
      if constexpr (is_complex<V>) {
        compare(there.apply_imaginary(0.4, v, found), here.apply_imaginary(0.4, v, expected));
      } else {
        EXPECT_THROW(there.apply_imaginary(0.4, v, found), InvalidArgument);
      }
      const auto device_v = to_device(std::span<const V>(v), stream);
      DeviceArray<V> device_y(std::ssize(v));
      EXPECT_EQ(there.apply(0.2, device_v.span(), device_y.span()).status, SolveStatus::converged);
      there.apply(0.2, v, found);
      const auto y = to_host(std::as_const(device_y).span(), stream);
      EXPECT_EQ(std::vector<V>(y.begin(), y.end()), found);
    }
  }
}

class GpuExponential : public test::GpuTest {};

// A sine mode of the Laplacian decays by its eigenvalue: in one sweep and in steps.
TEST_F(GpuExponential, OfALaplacianDecaysAsItsEigenvaluesDo) {
  Stream stream;
  const int n = test::on_gpu_or_emulated(50, 15);
  auto matrix = generate<double, I>(test::on_gpu_or_emulated("stencil5:50x50", "stencil5:15x15"));
  for (double& value : matrix.mutable_values()) value = -value;
  std::vector<double> mode;
  for (int y = 1; y <= n; ++y) {
    for (int x = 1; x <= n; ++x) {
      mode.push_back(std::sin(2 * x * std::numbers::pi / (n + 1)) *
                     std::sin(y * std::numbers::pi / (n + 1)));
    }
  }
  const double eigenvalue =
      4 - 2 * std::cos(2 * std::numbers::pi / (n + 1)) - 2 * std::cos(std::numbers::pi / (n + 1));
  std::vector<double> y(mode.size());
  for (const int most_degree : {1000, 20}) {
    ExponentialOptions options = quick(ExponentialMethod::chebyshev, 1e-12);
    options.most_degree = most_degree;
    options.time_bare = true;
    MatrixExponential<double> exponential(matrix, options, stream);
    EXPECT_LT(exponential.bounds().low, -7.5);
    const double time = 10;
    const ExponentialResult result = exponential.apply(time, mode, y);
    EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
    EXPECT_LE(result.degree, most_degree);
    EXPECT_EQ(result.steps > 1, most_degree == 20);
    EXPECT_GT(result.product.in_method, 0);
    EXPECT_GT(result.product.bare, 0);
    for (std::size_t i = 0; i < y.size(); ++i) {
      ASSERT_NEAR(y[i], std::exp(-eigenvalue * time) * mode[i], 1e-12);
    }
  }
}

TEST_F(GpuExponential, BadInputIsRefusedOrSaid) {
  Stream stream;
  const auto matrix = generate<double, I>("stencil5:4x4");
  std::vector<double> v(16, 1.0), y(16), few(3);
  MatrixExponential<double> exponential(matrix, quick(ExponentialMethod::automatic, 1e-12), stream);
  EXPECT_THROW(exponential.apply(1, few, y), InvalidArgument);
  EXPECT_THROW(exponential.apply(std::nan(""), v, y), InvalidArgument);
  EXPECT_THROW(exponential.phi(-1, 1, v, y), InvalidArgument);
  v[3] = std::nan("");
  EXPECT_EQ(exponential.apply(1, v, y).status, SolveStatus::not_finite);
  v[3] = 1;
  const Csr<double, I> wide(2, 3, Array<Offset>(3, 0), {}, {});
  EXPECT_THROW(MatrixExponential<double>(wide, {}, stream), InvalidArgument);
  auto broken = matrix;
  broken.mutable_values()[3] = std::nan("");
  EXPECT_THROW(MatrixExponential<double>(broken, {}, stream), InvalidArgument);
  MatrixExponential<double> none(Csr<double, I>(), {}, stream);
  std::vector<double> empty;
  EXPECT_EQ(none.apply(1, empty, empty).status, SolveStatus::converged);
  const std::vector<double> nothing(16);
  EXPECT_EQ(exponential.apply(1, nothing, y).products, 0);
  EXPECT_EQ(y, nothing);

  ExponentialOptions stopping = quick(ExponentialMethod::taylor, 1e-12);
  stopping.progress = [](int step, int steps) { return step < steps / 2; };
  MatrixExponential<double> stopped(matrix, stopping, stream);
  const ExponentialResult half = stopped.apply(-20, v, y);
  EXPECT_EQ(half.status, SolveStatus::stopped);
  EXPECT_LT(half.time, 0);
  EXPECT_GT(half.time, -20);
  std::vector<double> there(16);
  solvers::MatrixExponential<double, I>(matrix, quick(ExponentialMethod::automatic, 1e-12))
      .apply(half.time, v, there);
  EXPECT_LE(distance(y, there), 1e-10);
}

}  // namespace
}  // namespace strata::gpu
