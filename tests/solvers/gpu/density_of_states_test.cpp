// Densities on a GPU: the moments of the processors, of the same random vectors.

#include "strata/solvers/gpu/density_of_states.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"
#include "tests/solvers/eigen_support.hpp"
#include "tests/support/gpu.hpp"

namespace strata::gpu {
namespace {

using I = std::int32_t;
using solvers::DensityOptions;
using solvers::SolveStatus;

template <class V>
class GpuDensity : public test::GpuTest {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GpuDensity, Values);

TYPED_TEST(GpuDensity, HasTheMomentsOfTheProcessors) {
  using V = TypeParam;
  const bool single = std::is_same_v<decltype(std::abs(V())), float>;
  Stream stream;
  const auto matrix = generate<V, I>(is_complex<V> ? "topi:4x3x3" : "anderson:6x5x5");
  const DensityOptions options{.moments = 48, .vectors = 16, .threads = 2, .autotune = false};
  const auto found = density_of_states(matrix, options, stream);
  const auto expected = solvers::density_of_states(matrix, options);
  EXPECT_EQ(found.status, SolveStatus::converged) << found.message;
  EXPECT_EQ(found.vectors, 16);
  EXPECT_EQ(found.products, expected.products);
  EXPECT_FALSE(found.variant.empty());
  const double tolerance = single ? 2e-3 : 1e-7;
  EXPECT_NEAR(found.interval.low, expected.interval.low, 10 * tolerance);
  EXPECT_NEAR(found.interval.high, expected.interval.high, 10 * tolerance);
  ASSERT_EQ(found.moments.size(), expected.moments.size());
  for (std::size_t n = 0; n < found.moments.size(); ++n) {
    EXPECT_NEAR(found.moments[n], expected.moments[n], tolerance) << n;
  }
  EXPECT_GE(found.times.total, found.times.products);
  EXPECT_GT(found.times.products, 0);
}

class GpuDensityOfStates : public test::GpuTest {};

// All eigenvalues of the Laplacian, counted below some energies.
TEST_F(GpuDensityOfStates, CountsEigenvaluesWithinItsResolution) {
  Stream stream;
  const int n = test::on_gpu_or_emulated(40, 20);
  const auto values = test::laplacian_spectrum(n, n - 3);
  const auto matrix = generate<double, I>(
      test::on_gpu_or_emulated("stencil5:40x37,shuffle=1", "stencil5:20x17,shuffle=1"));
  const auto density = density_of_states(matrix,
                                         {.moments = test::on_gpu_or_emulated(256, 64),
                                          .vectors = test::on_gpu_or_emulated(64, 16),
                                          .autotune = false,
                                          .time_bare = true},
                                         stream);
  EXPECT_EQ(density.status, SolveStatus::converged);
  EXPECT_NEAR(density.moments[0], 1, 1e-14);
  EXPECT_GT(density.product.in_method, 0);
  EXPECT_GT(density.product.bare, 0);
  for (double energy = 0.5; energy < 8; energy += 0.5) {
    const auto below = static_cast<double>(std::lower_bound(values.begin(), values.end(), energy) -
                                           values.begin());
    EXPECT_NEAR(density.below(energy), below / static_cast<double>(values.size()),
                test::on_gpu_or_emulated(0.02, 0.06))
        << energy;
  }
}

TEST_F(GpuDensityOfStates, IsEndedByProgressAndRefusesBadInput) {
  Stream stream;
  const auto matrix = generate<double, I>("stencil5:9x8");
  const auto stopped =
      density_of_states(matrix,
                        {.moments = 32,
                         .vectors = 32,
                         .autotune = false,
                         .progress = [](double fraction) { return fraction < 0.4; }},
                        stream);
  EXPECT_EQ(stopped.status, SolveStatus::stopped);
  EXPECT_EQ(stopped.vectors, 8);
  EXPECT_NEAR(stopped.moments.at(0), 1, 1e-14);
  EXPECT_THROW(density_of_states(generate<double, I>("random:30,nnzr=4,seed=3"), {}, stream),
               InvalidArgument);
  EXPECT_THROW(density_of_states(Csr<double, I>(), {}, stream), InvalidArgument);
  EXPECT_THROW(density_of_states(matrix, {.moments = 1}, stream), InvalidArgument);
  EXPECT_THROW(density_of_states(matrix, {.vectors = 0}, stream), InvalidArgument);
  auto broken = matrix;
  broken.mutable_values()[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(density_of_states(broken, {}, stream), InvalidArgument);
}

}  // namespace
}  // namespace strata::gpu
