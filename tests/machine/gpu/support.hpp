// The profile of a GPU that does not exist, with numbers that are easy to recognise.
#pragma once

#include "strata/machine/gpu/profile.hpp"
#include "tests/machine/support.hpp"

namespace strata::test {

// 8 TB/s up to 40 MB, 4 from memory.
inline gpu::GpuProfile imaginary_gpu() {
  gpu::GpuProfile profile;
  profile.device = {.api = gpu::Api::cuda,
                    .index = 1,
                    .name = "Imaginary 9000",
                    .architecture = "sm_90",
                    .capability_major = 9,
                    .capability_minor = 0,
                    .multiprocessors = 100,
                    .warp = 32,
                    .memory_bytes = 100000 * kMega,
                    .l2_bytes = 50 * kMega,
                    .shared_bytes_per_block = 227 << 10,
                    .shared_bytes_per_multiprocessor = 228 << 10,
                    .registers_per_multiprocessor = 65536,
                    .threads_per_multiprocessor = 2048,
                    .clock_hertz = 2e9,
                    .cooperative_launch = true,
                    .driver = "13.1",
                    .runtime = "13.0"};
  constexpr int kThreads = 204800;
  profile.read = {{kThreads, 1 * kMega, 8000 * kGiga},
                  {kThreads, 40 * kMega, 8000 * kGiga},
                  {kThreads, 80 * kMega, 4000 * kGiga},
                  {kThreads, 400 * kMega, 4000 * kGiga}};
  profile.plateaus = {{kThreads, 40 * kMega, 8000 * kGiga}, {kThreads, 400 * kMega, 4000 * kGiga}};
  profile.stream = {3100 * kGiga, 3200 * kGiga, 3300 * kGiga, 3400 * kGiga,
                    3500 * kGiga, 3600 * kGiga, 400 * kMega};
  profile.launch_seconds = 2.5e-6;
  profile.graph_node_seconds = 1.25e-6;
  profile.barrier_seconds = 1.5e-6;
  profile.handoff_seconds = 0.75e-6;
  profile.hockney = {3e-6, 3900 * kGiga, 0.04};
  profile.measured_at = "2026-01-02T03:04:05Z";
  profile.measuring_seconds = 1.5;
  return profile;
}

}  // namespace strata::test
