// What GPU compilers are tried with: the runtime, a kernel, and the C++20 that ours are written in.

#ifdef STRATA_GPU_HIP
#include <hip/hip_runtime.h>
#endif

#include <concepts>
#include <span>

template <std::integral Value>
__global__ void fill(Value* values, Value value) {
  values[threadIdx.x] = value;
}

int main() {
  std::span<int> values;
  fill<<<1, 1>>>(values.data(), 1);
}
