// Operations on vectors on an emulated GPU, against sums by the processor.
#include "strata/kernels/gpu/vector_bodies.hpp"

#include "tests/kernels/gpu/emulated.hpp"

namespace strata {
namespace {

template <class Types>
class GpuVectors : public testing::Test {};
TYPED_TEST_SUITE(GpuVectors, test::ValuesOnWarps);

template <Value V>
std::complex<double> as_complex(const gpu::DeviceValue<V>& value) {
  if constexpr (is_complex<V>) {
    return {static_cast<double>(value.re), static_cast<double>(value.im)};
  } else {
    return static_cast<double>(value);
  }
}
template <Value V>
std::complex<double> wide(V value) {
  return {static_cast<double>(std::real(value)), static_cast<double>(std::imag(value))};
}

TYPED_TEST(GpuVectors, DotAddsUpConjugatesTimesElements) {
  using V = typename TypeParam::Value;
  using T = gpu::DeviceValue<V>;
  constexpr int warp = TypeParam::warp_size;
  for (const std::size_t size : {0U, 1U, 63U, 700U}) {
    const auto x = test::random_vector<V>(size, 1);
    const auto y = test::random_vector<V>(size, 2);
    std::complex<double> expected = 0;
    for (std::size_t i = 0; i < size; ++i) expected += std::conj(wide(x[i])) * wide(y[i]);
    const auto device_x = test::device_copy(std::span<const V>(x));
    const auto device_y = test::device_copy(std::span<const V>(y));
    for (const int blocks : {1, 3}) {
      std::vector<T> partial_sums(static_cast<std::size_t>(blocks));
      std::vector<T> sum(1);
      const auto launch = [&](int grid, const gpu::DotArguments<T>& arguments) {
        emulator::launch<warp>(grid, 2 * warp, 2 * warp * sizeof(T), {},
                               [&](auto& thread) { gpu::dot(thread, arguments); });
      };
      launch(blocks, {device_x.data(), device_y.data(), static_cast<std::int64_t>(size),
                      partial_sums.data()});
      launch(1, {nullptr, partial_sums.data(), blocks, sum.data()});
      const double tolerance = 1e-5 * (1 + static_cast<double>(size));
      EXPECT_NEAR(std::abs(as_complex<V>(sum[0]) - expected), 0, tolerance)
          << size << " elements, " << blocks << " blocks";
    }
  }
}

TYPED_TEST(GpuVectors, AxpbyScalesAndAddsAndDoesNotReadWhatItNeedNot) {
  using V = typename TypeParam::Value;
  using T = gpu::DeviceValue<V>;
  constexpr int warp = TypeParam::warp_size;
  const auto x = test::random_vector<V>(333, 1);
  const auto y = test::random_vector<V>(333, 2);
  for (const V beta : {V(0), V(0.5)}) {
    const auto device_x = test::device_copy(std::span<const V>(x));
    auto result = test::device_copy(std::span<const V>(y));
    if (beta == V{}) {
      for (T& number : result) number = gpu::device_value(V(std::nanf("")));
    }
    const gpu::AxpbyArguments<T> arguments{device_x.data(), result.data(), 333,
                                           gpu::device_value(V(-2)), gpu::device_value(beta)};
    test::launch_somehow<warp>(0, [&](auto& thread) { gpu::axpby(thread, arguments); });
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::complex<double> expected = -2.0 * wide(x[i]) + wide(beta) * wide(y[i]);
      ASSERT_NEAR(std::abs(as_complex<V>(result[i]) - expected), 0, 1e-6) << i;
    }
  }
}

}  // namespace
}  // namespace strata
