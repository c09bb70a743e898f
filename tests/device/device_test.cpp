#include "strata/device/device.hpp"
#include "strata/device/memory.hpp"

#include "strata/base/error.hpp"
#include "tests/support/gpu.hpp"

namespace strata::test {
namespace {

class Device : public GpuTest {};

TEST_F(Device, PropertiesAreThoseOfAGpu) {
  for (int index = 0; index < gpu::device_count(); ++index) {
    const gpu::DeviceProperties device = gpu::device_properties(index);
    EXPECT_EQ(device.index, index);
    EXPECT_EQ(device.api, gpu::api());
    EXPECT_FALSE(device.name.empty() || device.architecture.empty());
    EXPECT_FALSE(device.driver.empty() || device.runtime.empty());
    EXPECT_TRUE(device.warp == 32 || device.warp == 64);
    EXPECT_GT(device.multiprocessors, 0);
    EXPECT_GT(device.l2_bytes, 0);
    EXPECT_GT(device.memory_bytes, device.l2_bytes);
    EXPECT_GE(device.shared_bytes_per_block, 48 << 10);
    EXPECT_GE(device.shared_bytes_per_multiprocessor, device.shared_bytes_per_block);
    EXPECT_GE(device.registers_per_multiprocessor, 32768);
    EXPECT_GE(device.threads_per_multiprocessor, 1024);
    EXPECT_GT(device.clock_hertz, 1e8);
  }
}

TEST_F(Device, ANumberThatDoesNotExistIsUnavailable) {
  EXPECT_THROW(gpu::device_properties(gpu::device_count()), Unavailable);
  EXPECT_THROW(gpu::use_device(-1), Unavailable);
}

TEST_F(Device, TheOneInUseIsTheOneChosen) {
  for (int index = gpu::device_count(); index-- > 0;) {
    gpu::use_device(index);
    EXPECT_EQ(gpu::current_device(), index);
    EXPECT_EQ(gpu::multiprocessor_count(), gpu::device_properties(index).multiprocessors);
  }
}

TEST_F(Device, HasFreeMemory) {
  const gpu::DeviceMemory memory = gpu::device_memory();
  EXPECT_GT(memory.free_bytes, 0);
  EXPECT_LE(memory.free_bytes, memory.total_bytes);
}

}  // namespace
}  // namespace strata::test
