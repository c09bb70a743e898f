// The kernels that are timed do what they are timed for.

#include "strata/machine/gpu/internal/kernels.hpp"

#include <numeric>

#include "strata/base/error.hpp"
#include "tests/support/gpu.hpp"

namespace strata::test {
namespace {

namespace kernels = gpu::detail;

class GpuKernels : public GpuTest {
 protected:
  static constexpr Offset kElements = 37 * kernels::kTile;

  // Numbers as the measurement uses them.
  static gpu::DeviceArray<double> numbers(gpu::Stream& stream, Offset elements = kElements) {
    gpu::DeviceArray<double> array(elements);
    kernels::fill_with_numbers(array.span(), stream);
    return array;
  }
  static gpu::DeviceArray<unsigned> zeros(Offset elements, gpu::Stream& stream) {
    gpu::DeviceArray<unsigned> array(elements);
    gpu::fill_zero(array.span(), stream);
    return array;
  }
};

TEST_F(GpuKernels, NumbersAreDifferentAndBetween1And2) {
  gpu::Stream stream;
  const auto values = gpu::to_host(numbers(stream).span(), stream);
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0) / kElements, 1.5, 0.01);
  for (const double value : values) {
    ASSERT_GE(value, 1);
    ASSERT_LT(value, 2);
  }
  EXPECT_NE(values[0], values[1]);
}

TEST_F(GpuKernels, BabelStreamComputesWhatItSays) {
  gpu::Stream stream;
  const auto x = numbers(stream, 2 * kElements);
  const auto a = x.subspan(0, kElements), b = x.subspan(kElements, kElements);
  const auto at_host = gpu::to_host(x.span(), stream);
  gpu::DeviceArray<double> c(kElements);
  const auto expect_all = [&](auto&& expected) {
    const auto values = gpu::to_host(c.span(), stream);
    for (Offset i = 0; i < kElements; ++i) {
      ASSERT_DOUBLE_EQ(values[i], expected(at_host[i], at_host[kElements + i])) << i;
    }
  };
  kernels::babel_copy(a, c.span(), stream);
  expect_all([](double from_a, double) { return from_a; });
  kernels::babel_mul(3, a, c.span(), stream);
  expect_all([](double from_a, double) { return 3 * from_a; });
  kernels::babel_add(a, b, c.span(), stream);
  expect_all([](double from_a, double from_b) { return from_a + from_b; });
  kernels::babel_triad(3, a, b, c.span(), stream);
  expect_all([](double from_a, double from_b) { return from_a + 3 * from_b; });
}

TEST_F(GpuKernels, PartsOfTheDotProductAddUp) {
  gpu::Stream stream;
  const auto x = numbers(stream);
  const auto at_host = gpu::to_host(x.span(), stream);
  const double expected = std::inner_product(at_host.begin(), at_host.end(), at_host.begin(), 0.0);
  for (const Offset parts : {1, 7, 100}) {
    gpu::DeviceArray<double> partial(parts);
    kernels::babel_dot(x.span(), x.span(), partial.span(), stream);
    const auto sums = gpu::to_host(partial.span(), stream);
    EXPECT_NEAR(std::accumulate(sums.begin(), sums.end(), 0.0) / expected, 1, 1e-12) << parts;
  }
}

TEST_F(GpuKernels, AtLeastWhatWasAskedForIsRead) {
  gpu::Stream stream;
  const auto data = numbers(stream);
  auto sink = zeros(1, stream);
  const Offset threads = kernels::reading_threads();
  for (const Offset bytes : {Offset{1}, Offset{1} << 20, Offset{1} << 30}) {
    const Offset read =
        kernels::read_again_and_again(data.span(), threads, bytes, sink.span(), stream);
    EXPECT_GE(read, bytes);
    EXPECT_EQ(read % (16 * threads), 0);
  }
  kernels::read_once(data.span(), sink.span(), stream);
  EXPECT_NO_THROW(stream.synchronize());
}

TEST_F(GpuKernels, BlocksMeetAndAnswerEachOther) {
  const gpu::DeviceProperties device = gpu::device_properties(gpu::current_device());
  if (!device.cooperative_launch) GTEST_SKIP() << "blocks cannot wait for each other here";
  gpu::Stream stream;
  auto flags = zeros(kernels::kFlags, stream);
  kernels::meet(10, flags.span(), stream);
  EXPECT_EQ(gpu::to_host(flags.span(), stream)[0],
            static_cast<unsigned>(10 * device.multiprocessors));
  if (device.multiprocessors < 2) return;
  gpu::fill_zero(flags.span(), stream);
  kernels::answer_each_other(25, flags.span(), stream);
  const auto after = gpu::to_host(flags.span(), stream);
  EXPECT_EQ(std::accumulate(after.begin(), after.end(), 0U), 50U);
}

TEST_F(GpuKernels, ArraysThatDoNotFitAreRefused) {
  gpu::Stream stream;
  gpu::DeviceArray<double> array(kernels::kTile + 1), other(kernels::kTile);
  EXPECT_THROW(kernels::fill_with_numbers(array.span(), stream), InvalidArgument);
  EXPECT_THROW(kernels::babel_copy(array.span(), other.span(), stream), InvalidArgument);
}

}  // namespace
}  // namespace strata::test
