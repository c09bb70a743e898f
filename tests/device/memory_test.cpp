#include "strata/device/memory.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "strata/device/array.hpp"
#include "strata/device/error.hpp"
#include "tests/support/gpu.hpp"

namespace strata::test {
namespace {

class DeviceMemory : public GpuTest {
 protected:
  void TearDown() override { gpu::set_device_memory_limit(0); }
};

TEST_F(DeviceMemory, IsCountedWhileArraysLive) {
  const Offset before = gpu::device_memory_use().bytes;
  gpu::reset_device_memory_peak();
  {
    gpu::DeviceArray<double> one(1000);
    gpu::DeviceArray<int> two(10);
    EXPECT_EQ(gpu::device_memory_use().bytes, before + 8040);
    two = gpu::DeviceArray<int>(20);
    EXPECT_EQ(gpu::device_memory_use().bytes, before + 8080);
    const gpu::DeviceArray<double> moved = std::move(one);
    EXPECT_EQ(gpu::device_memory_use().bytes, before + 8080);
  }
  EXPECT_EQ(gpu::device_memory_use().bytes, before);
  EXPECT_EQ(gpu::device_memory_use().peak_bytes, before + 8120);
  gpu::reset_device_memory_peak();
  EXPECT_EQ(gpu::device_memory_use().peak_bytes, before);
}

TEST_F(DeviceMemory, ALimitIsKeptAndNothingIsLost) {
  const Offset before = gpu::device_memory_use().bytes;
  gpu::set_device_memory_limit(before + 1000);
  EXPECT_EQ(gpu::available_device_memory(), 1000);
  const gpu::DeviceArray<char> most(900);
  try {
    gpu::DeviceArray<char> more(101);
    ADD_FAILURE() << "more than the limit was given";
  } catch (const gpu::DeviceOutOfMemory& failure) {
    EXPECT_EQ(failure.bytes_asked(), 101);
    EXPECT_EQ(failure.bytes_free(), 100);
  }
  EXPECT_NO_THROW(gpu::DeviceArray<char>(100));
  gpu::set_device_memory_limit(0);
  EXPECT_NO_THROW(gpu::DeviceArray<char>(10000));
  EXPECT_EQ(gpu::device_memory_use().bytes, before + 900);
  EXPECT_THROW(gpu::set_device_memory_limit(-1), InvalidArgument);
}

}  // namespace
}  // namespace strata::test
