// Tests that need a GPU, and are skipped where there is none.
#pragma once

#include <gtest/gtest.h>

#include "strata/device/device.hpp"

namespace strata::test {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (gpu::device_count() == 0) GTEST_SKIP() << "no GPU: " << gpu::why_no_device();
  }
};

}  // namespace strata::test
