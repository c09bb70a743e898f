#include "tests/device/kernels.hpp"

#include "strata/base/checked.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/device/internal/runtime.hpp"
#include "strata/kernels/gpu/simt.hpp"

namespace strata::test {

namespace {

constexpr int kThreads = 128;

__global__ void add_kernel(int* data, Offset size, int summand) {
  const Offset i = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < size) data[i] += summand;
}

// state[0]: the sum; state[1]: how many blocks have arrived.
__global__ void sum_kernel(int* results, int* state) {
  if (threadIdx.x != 0) return;
  atomicAdd(&state[0], static_cast<int>(blockIdx.x));
  __threadfence();
  atomicAdd(&state[1], 1);
  while (atomicAdd(&state[1], 0) < static_cast<int>(gridDim.x)) {
  }
  __threadfence();
  results[blockIdx.x] = atomicAdd(&state[0], 0);
}

__global__ void shared_kernel(double* results, int elements) {
  auto* shared = gpu::NativeThread().shared<double>();
  for (int i = static_cast<int>(threadIdx.x); i < elements; i += static_cast<int>(blockDim.x)) {
    shared[i] = i;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  double sum = 0;
  for (int i = 0; i < elements; ++i) sum += shared[i];
  results[blockIdx.x] = sum;
}

__global__ void nowhere_kernel(volatile int* nowhere) {
  *nowhere = 1;
}

}  // namespace

void add_to_all(gpu::DeviceSpan<int> data, int summand, gpu::Stream& stream) {
  gpu::launch("add_kernel", add_kernel,
              {.blocks = ceil_div(data.size(), kThreads), .threads = kThreads}, stream, data.data(),
              data.size(), summand);
}

void sum_across_blocks(gpu::DeviceSpan<int> results, gpu::DeviceSpan<int> state,
                       gpu::Stream& stream) {
  gpu::launch_cooperative("sum_kernel", sum_kernel, {.blocks = results.size(), .threads = kThreads},
                          stream, results.data(), state.data());
}

int blocks_that_fit() {
  return gpu::resident_blocks("sum_kernel", sum_kernel, kThreads);
}

void sum_in_shared_memory(gpu::DeviceSpan<double> results, int elements, gpu::Stream& stream) {
  gpu::launch("shared_kernel", shared_kernel,
              {.blocks = results.size(),
               .threads = kThreads,
               .shared_bytes = elements * Offset{sizeof(double)}},
              stream, results.data(), elements);
}

int architecture_of_code() {
  return gpu::code_architecture("add_kernel", add_kernel);
}

void write_to_nowhere(gpu::Stream& stream) {
  gpu::launch("nowhere_kernel", nowhere_kernel, {.blocks = 1, .threads = 1}, stream, nullptr);
}

}  // namespace strata::test
