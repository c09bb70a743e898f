#include "strata/device/array.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "strata/device/error.hpp"
#include "strata/device/memory.hpp"
#include "tests/support/gpu.hpp"

namespace strata::test {
namespace {

class DeviceArrays : public GpuTest {
 protected:
  static std::vector<int> numbers(int count) {
    std::vector<int> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 1);
    return values;
  }
};

TEST_F(DeviceArrays, DataComesBackAsItWent) {
  gpu::Stream stream;
  const std::vector<int> sent = numbers(100000);
  const auto array = gpu::to_device(std::span(sent), stream);
  EXPECT_EQ(array.size(), 100000);
  EXPECT_TRUE(std::ranges::equal(gpu::to_host(array.span(), stream), sent));
}

TEST_F(DeviceArrays, PartsAreCopiedInOrderOfTheStream) {
  gpu::Stream stream;
  const std::vector<int> sent = numbers(10);
  gpu::DeviceArray<int> first(10), second(10);
  gpu::copy(sent, first.span(), stream);
  gpu::fill_zero(second.span(), stream);
  gpu::copy(first.subspan(2, 3), second.subspan(5, 3), stream);
  std::vector<int> received(10, -1);
  gpu::copy(second.span(), received, stream);
  stream.synchronize();
  EXPECT_EQ(received, (std::vector{0, 0, 0, 0, 0, 3, 4, 5, 0, 0}));
}

TEST_F(DeviceArrays, PinnedMemoryIsCopiedLikeAnyOther) {
  gpu::Stream stream;
  gpu::PinnedArray<double> pinned(1000);
  for (Offset i = 0; i < pinned.size(); ++i) pinned[i] = 0.5 * static_cast<double>(i);
  gpu::DeviceArray<double> array(1000);
  gpu::copy(pinned.span(), array.span(), stream);
  EXPECT_TRUE(std::ranges::equal(gpu::to_host(array.span(), stream), pinned.span()));
}

TEST_F(DeviceArrays, CopiesBetweenPlacesOfDifferentSizeAreRefused) {
  gpu::Stream stream;
  gpu::DeviceArray<int> array(10);
  std::vector<int> host(9);
  EXPECT_THROW(gpu::copy(host, array.span(), stream), InvalidArgument);
  EXPECT_THROW(gpu::copy(array.span(), host, stream), InvalidArgument);
  EXPECT_THROW(gpu::copy(array.subspan(0, 3), array.subspan(5, 4), stream), InvalidArgument);
}

TEST_F(DeviceArrays, MovingLeavesNothingBehind) {
  gpu::DeviceArray<int> array(10);
  int* const data = array.data();
  gpu::DeviceArray<int> other(std::move(array));
  EXPECT_EQ(other.data(), data);
  EXPECT_EQ(array.size(), 0);  // NOLINT: what a moved-from array is, is the claim
  EXPECT_EQ(array.data(), nullptr);
}

TEST_F(DeviceArrays, TooMuchMemorySaysHowMuchAndLeaksNothing) {
  gpu::Stream stream;
  const Offset free_before = gpu::device_memory().free_bytes;
  const Offset asked = gpu::device_memory().total_bytes * 2;
  try {
    gpu::DeviceArray<char> array(asked);
    ADD_FAILURE() << "twice the memory of the device was given";
  } catch (const gpu::DeviceOutOfMemory& failure) {
    EXPECT_EQ(failure.bytes_asked(), asked);
    EXPECT_GT(failure.bytes_free(), 0);
    EXPECT_LT(failure.bytes_free(), asked);
  }
  // Nothing is left of the error, and nothing of the memory is gone but what the runtime keeps.
  gpu::DeviceArray<int> array(10);
  gpu::fill_zero(array.span(), stream);
  EXPECT_NO_THROW(stream.synchronize());
  EXPECT_GT(gpu::device_memory().free_bytes, free_before - (Offset{64} << 20));
}

}  // namespace
}  // namespace strata::test
