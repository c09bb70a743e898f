// Kernels that do nothing but start, or wait for each other. Those that wait are launched with all
// blocks resident; without that they might wait for a block that never starts.

#include "strata/device/device.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/machine/gpu/internal/kernels.hpp"
#include "strata/machine/gpu/internal/signals.hpp"

namespace strata::gpu::detail {

namespace {

constexpr int kThreads = 256;
constexpr Offset kPing = 0;
constexpr Offset kPong = kFlags / 2;

__global__ void nothing_kernel() {}

// The counter only grows: round r is over when every block has added r.
__global__ void meet_kernel(int rounds, unsigned* arrived) {
  for (unsigned round = 1; round <= static_cast<unsigned>(rounds); ++round) {
    __syncthreads();
    if (threadIdx.x == 0) {
      add_release(arrived, 1);
      while (load_acquire(arrived) < round * gridDim.x) {
      }
    }
    __syncthreads();
  }
}

// Blocks far from each other in the grid, hence on different multiprocessors.
__global__ void answer_kernel(int trips, unsigned* ping, unsigned* pong) {
  const bool asks = blockIdx.x == 0;
  if (threadIdx.x != 0 || !(asks || blockIdx.x == gridDim.x / 2)) return;
  for (unsigned trip = 1; trip <= static_cast<unsigned>(trips); ++trip) {
    if (asks) store_release(ping, trip);
    while (load_acquire(asks ? pong : ping) < trip) {
    }
    if (!asks) store_release(pong, trip);
  }
}

}  // namespace

void do_nothing(Stream& stream) {
  launch("nothing_kernel", nothing_kernel, {.blocks = 1, .threads = 32}, stream);
}

void meet(int rounds, DeviceSpan<unsigned> flags, Stream& stream) {
  launch_cooperative("meet_kernel", meet_kernel,
                     {.blocks = multiprocessor_count(), .threads = kThreads}, stream, rounds,
                     flags.subspan(0, 1).data());
}

void answer_each_other(int trips, DeviceSpan<unsigned> flags, Stream& stream) {
  launch_cooperative("answer_kernel", answer_kernel,
                     {.blocks = multiprocessor_count(), .threads = 32}, stream, trips,
                     flags.subspan(kPing, 1).data(), flags.subspan(kPong, 1).data());
}

}  // namespace strata::gpu::detail
