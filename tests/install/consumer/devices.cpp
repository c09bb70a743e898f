// A program that uses the GPU library, and runs on machines without a GPU too.
#include <cstdio>

#include "strata/device/array.hpp"
#include "strata/device/device.hpp"

int main() {
  if (strata::gpu::device_count() == 0) {
    std::puts(strata::gpu::why_no_device().c_str());
    return 0;
  }
  std::puts(strata::gpu::device_properties(0).name.c_str());
  strata::gpu::Stream stream;
  strata::gpu::DeviceArray<double> array(1000);
  strata::gpu::fill_zero(array.span(), stream);
  return strata::gpu::to_host(array.span(), stream)[999] == 0 ? 0 : 1;
}
