// Tests of commands that measure on the GPU of this machine; skipped where there is none.
#pragma once

#include "strata/device/device.hpp"
#include "strata/machine/gpu/cached_profile.hpp"
#include "tests/cli/benchmark.hpp"
#include "tests/machine/gpu/support.hpp"

namespace strata::test {

class GpuBenchmarkTest : public BenchmarkTest {
 protected:
  void SetUp() override {
    if (gpu::device_count() == 0) GTEST_SKIP() << "no GPU: " << gpu::why_no_device();
  }
  static std::string backend() { return std::string(name_of(gpu::api())); }
};

// With speeds that are cached already.
class ProfiledGpuTest : public GpuBenchmarkTest {
 protected:
  void SetUp() override {
    GpuBenchmarkTest::SetUp();
    if (IsSkipped()) return;
    gpu::GpuProfile profile = imaginary_gpu();
    profile.device = gpu::device_properties(0);
    gpu::save_profile(profile, gpu::profile_path(profile.device));
  }
};

}  // namespace strata::test
