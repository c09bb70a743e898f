// The GPUs of this machine. A program with GPU code runs without one as well: calls that need a
// device throw Unavailable and say why there is none.
#pragma once

#include <string>
#include <string_view>

#include "strata/base/types.hpp"

namespace strata::gpu {

enum class Api { cuda, hip };

// What this build was made for.
Api api();
constexpr std::string_view name_of(Api api) {
  return api == Api::hip ? "hip" : "cuda";
}

struct DeviceProperties {
  Api api = Api::cuda;
  int index = 0;
  std::string name;
  std::string architecture;  // "sm_90" or "gfx90a"
  int capability_major = 0;  // of CUDA; what HIP makes of it on AMD
  int capability_minor = 0;
  int multiprocessors = 0;
  int warp = 0;                       // 32 or 64 threads
  Offset memory_bytes = 0;            // of the whole device
  Offset l2_bytes = 0;                // as the driver reports it
  Offset shared_bytes_per_block = 0;  // the most a block may ask for
  Offset shared_bytes_per_multiprocessor = 0;
  int registers_per_multiprocessor = 0;  // of 32 bits
  int threads_per_multiprocessor = 0;    // resident at a time
  double clock_hertz = 0;                // of the multiprocessors, at most
  bool cooperative_launch = false;       // all blocks of a kernel resident at once
  std::string driver;                    // the newest version of the API that the driver serves
  std::string runtime;                   // the version that this build uses

  bool operator==(const DeviceProperties&) const = default;
};

// 0 where there is no GPU that can be used; never throws for that.
int device_count();
// Why device_count() is 0: no driver, a driver that is too old, no device. Empty if it is not 0.
std::string why_no_device();

// Both throw Unavailable if there is no device of that number. Asking the driver for all properties
// may take milliseconds: that is done once.
DeviceProperties device_properties(int index);
// For everything that the calling thread does on a device from now on.
void use_device(int index);
// The device that the calling thread uses; 0 unless it has chosen one.
int current_device();
// Of the current device, at once.
int multiprocessor_count();

// Waits for everything on the current device. Throws DeviceError if any of it has failed.
void synchronize_device();

}  // namespace strata::gpu
