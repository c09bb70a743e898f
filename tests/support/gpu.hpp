// Tests that need a GPU, and are skipped where there is none.
#pragma once

#include <gtest/gtest.h>

#include "strata/device/device.hpp"

namespace strata::test {

// An emulated GPU runs thousands of times slower than a GPU: tests that fill one have less to do.
#ifdef STRATA_GPU_EMULATED
inline constexpr bool kEmulatedGpu = true;
#else
inline constexpr bool kEmulatedGpu = false;
#endif
template <class T>
constexpr T on_gpu_or_emulated(T on_gpu, T emulated) {
  return kEmulatedGpu ? emulated : on_gpu;
}

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (gpu::device_count() == 0) GTEST_SKIP() << "no GPU: " << gpu::why_no_device();
  }
};

}  // namespace strata::test
