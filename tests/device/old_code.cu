// Kernels of which a build has code for an old architecture alone.
#include "strata/device/internal/launch.hpp"
#include "strata/kernels/gpu/simt.hpp"
#include "tests/device/kernels.hpp"

namespace strata::test {

namespace {

// As a kernel is that needs what newer devices have.
__global__ void newer_kernel(int* done) {
#if __CUDA_ARCH__ >= 900
  *done = 1;
#else
  static_cast<void>(done);
  gpu::NativeThread().trap();
#endif
}

}  // namespace

int architecture_of_old_code() {
  return gpu::code_architecture("newer_kernel", newer_kernel);
}

void run_old_code(gpu::DeviceSpan<int> done, gpu::Stream& stream) {
  gpu::launch("newer_kernel", newer_kernel, {.blocks = 1, .threads = 1}, stream, done.data());
}

}  // namespace strata::test
