// CUDA's language for kernels that the C++ compiler compiles, for tests: included before every .cu
// file of a build with STRATA_GPU=emulated, as nvcc includes a header of its own. Kernels are plain
// functions, and NativeThread is the fiber that runs.
#pragma once

#include <bit>
#include <cstdint>

#include "tests/emulator/cuda/cuda_runtime_api.h"
#include "tests/emulator/cuda/registration.hpp"
#include "tests/emulator/emulator.hpp"

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
// Right while the blocks of a kernel run one after the other: not in cooperative launches.
#define __shared__ static

namespace strata::emulator {

// What the thread that runs belongs to: blocks of the grid are those of the launch, from the first
// on.
struct CurrentLaunch {
  Grid* grid = nullptr;
  int first_block = 0;
  int blocks = 0;
};
const CurrentLaunch& current_launch();
// A clock of the device that advances whenever a thread reads it: so fast that a watchdog of some
// milliseconds fires before the emulator finds that no flag changes any more.
std::uint64_t device_nanoseconds();

}  // namespace strata::emulator

namespace strata::gpu {

// The Thread of simt.hpp.
class NativeThread : public emulator::EmulatedThread<32> {
 public:
  NativeThread()
      : EmulatedThread(*emulator::current_launch().grid,
                       emulator::current_launch().grid->running()),
        launch_(emulator::current_launch()) {}

  int block() const { return launch_.first_block + EmulatedThread::block(); }
  int blocks() const { return launch_.blocks; }
  std::uint64_t nanoseconds() const { return emulator::device_nanoseconds(); }
  [[noreturn]] void trap() const { throw emulator::EmulationError("a kernel called trap()"); }

 private:
  const emulator::CurrentLaunch& launch_;
};

}  // namespace strata::gpu

#define threadIdx dim3(static_cast<unsigned>(::strata::gpu::NativeThread().index()))
#define blockDim dim3(static_cast<unsigned>(::strata::gpu::NativeThread().size()))
#define blockIdx dim3(static_cast<unsigned>(::strata::gpu::NativeThread().block()))
#define gridDim dim3(static_cast<unsigned>(::strata::gpu::NativeThread().blocks()))

inline void __syncthreads() {
  strata::gpu::NativeThread().sync_block();
}
inline void __threadfence() {
  strata::gpu::NativeThread().fence();
}
// Additions of 0 are polls.
inline int atomicAdd(int* number, int summand) {
  strata::gpu::NativeThread thread;
  auto* flag = reinterpret_cast<std::uint32_t*>(number);
  if (summand == 0) return static_cast<int>(thread.load_flag(flag));
  return static_cast<int>(thread.add_flag(flag, static_cast<std::uint32_t>(summand)));
}
inline long long __double_as_longlong(double number) {
  return std::bit_cast<long long>(number);
}
