// Operations on vectors on a GPU.
#include "strata/kernels/gpu/vector_operations.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "strata/base/error.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/matrices.hpp"

namespace strata::gpu {
namespace {

class GpuVectorOperations : public test::GpuTest {};

TEST_F(GpuVectorOperations, DotIsTheSumOfProductsAndTheSameEveryTime) {
  Stream stream;
  DotProduct<double> dot;
  for (const std::size_t size : {0U, 1U, 1000U, 1000003U}) {
    const auto x = test::random_vector<double>(size, 1);
    const auto y = test::random_vector<double>(size, 2);
    long double expected = 0;
    for (std::size_t i = 0; i < size; ++i) expected += static_cast<long double>(x[i]) * y[i];
    const auto device_x = to_device(std::span<const double>(x), stream);
    const auto device_y = to_device(std::span<const double>(y), stream);
    const double found = dot(device_x.span(), device_y.span(), stream);
    EXPECT_NEAR(found, static_cast<double>(expected), 1e-9 * (1 + std::sqrt(double(size))));
    EXPECT_EQ(found, dot(device_x.span(), device_y.span(), stream));
  }
}

TEST_F(GpuVectorOperations, AxpbyIsDoneInTheOrderOfTheStream) {
  Stream stream;
  const auto x = test::random_vector<std::complex<float>>(70000, 1);
  const auto device_x = to_device(std::span<const std::complex<float>>(x), stream);
  auto y = to_device(std::span<const std::complex<float>>(x), stream);
  using C = std::complex<float>;
  axpby(C(0, 1), device_x.span(), C(2), y.span(), stream);
  const auto found = to_host(y.span(), stream);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(std::abs(found[i] - (C(0, 1) * x[i] + C(2) * x[i])), 0, 1e-5) << i;
  }
}

TEST_F(GpuVectorOperations, LinesAreTakenPutAndAdded) {
  Stream stream;
  for (const int count : {1, 3}) {
    const auto x = test::random_vector<double>(3000U * static_cast<unsigned>(count), 1);
    std::vector<std::int32_t> lines;
    for (int line = 2999; line >= 0; line -= 7) lines.push_back(line);
    const auto device_x = to_device(std::span<const double>(x), stream);
    const auto device_lines = to_device(std::span<const std::int32_t>(lines), stream);
    DeviceArray<double> packed(std::ssize(lines) * count), y(std::ssize(x));
    fill_zero(y.span(), stream);
    take_lines<double>(device_x.span(), device_lines.span(), packed.span(), count, stream);
    put_lines<double>(packed.span(), device_lines.span(), y.span(), count, stream);
    add_lines<double>(packed.span(), device_lines.span(), y.span(), count, stream);
    const auto found = to_host(y.span(), stream);
    const auto taken = to_host(packed.span(), stream);
    std::vector<double> expected(x.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (int v = 0; v < count; ++v) {
        const auto element = static_cast<std::size_t>(lines[i] * count + v);
        EXPECT_EQ(taken[i * static_cast<std::size_t>(count) + static_cast<std::size_t>(v)],
                  x[element]);
        expected[element] = 2 * x[element];
      }
    }
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
    EXPECT_THROW(take_lines<double>(device_x.span(), device_lines.span(), packed.span(), 2, stream),
                 InvalidArgument);
  }
}

TEST_F(GpuVectorOperations, WeightedSumsStartOrGoOn) {
  Stream stream;
  const auto x = test::random_vector<double>(5000, 1);
  const auto y = test::random_vector<double>(5000, 2);
  const auto device_x = to_device(std::span<const double>(x), stream);
  const auto device_y = to_device(std::span<const double>(y), stream);
  DeviceArray<double> sum(5000), few(4999);
  const std::vector<Summand<double>> three{
      {2, device_x.span()}, {-1, device_y.span()}, {0.5, device_x.span()}};
  weighted_sum<double>(three, false, sum.span(), stream);
  weighted_sum<double>(std::span(three).first(1), true, sum.span(), stream);
  const auto found = to_host(sum.span(), stream);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(found[i], 4.5 * x[i] - y[i], 1e-14) << i;
  EXPECT_THROW(weighted_sum<double>(three, true, few.span(), stream), InvalidArgument);
  EXPECT_THROW(weighted_sum<double>(std::vector(8, three[0]), true, sum.span(), stream),
               InvalidArgument);
}

TEST_F(GpuVectorOperations, VectorsOfDifferentLengthsAreRefused) {
  Stream stream;
  const DeviceArray<double> three(3);
  DeviceArray<double> four(4);
  DotProduct<double> dot;
  EXPECT_THROW(axpby(1.0, three.span(), 0.0, four.span(), stream), InvalidArgument);
  EXPECT_THROW(dot(three.span(), std::as_const(four).span(), stream), InvalidArgument);
}

}  // namespace
}  // namespace strata::gpu
