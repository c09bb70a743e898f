// Which code a build has for the current device.
#include <gtest/gtest.h>

#include <cstdlib>

#include "strata/device/device.hpp"
#include "strata/device/error.hpp"
#include "tests/device/kernels.hpp"
#include "tests/support/gpu.hpp"

namespace strata::test {
namespace {

class Code : public GpuTest {};

TEST_F(Code, KernelsReportTheArchitectureItIsFor) {
  const gpu::DeviceProperties device = gpu::device_properties(gpu::current_device());
  EXPECT_EQ(architecture_of_old_code(), 75);
  EXPECT_GE(architecture_of_code(), 75);
  EXPECT_LE(architecture_of_code(), device.capability_major * 10 + device.capability_minor);
}

// What is left of a kernel in a build for other devices must not pass for the whole of it.
TEST_F(Code, AKernelWithoutABodyIsAnError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        gpu::Stream stream;
        gpu::DeviceArray<int> done(1);
        run_old_code(done.span(), stream);
        try {
          stream.synchronize();
        } catch (const gpu::DeviceError&) {
          std::_Exit(3);
        }
        std::_Exit(0);
      },
      testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace strata::test
