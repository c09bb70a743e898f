// Memory of devices: how much there is, and how much of it this process uses. Plans hold several
// forms of a matrix while they choose among them, and stay within what is available.
#pragma once

#include "strata/base/types.hpp"

namespace strata::gpu {

struct DeviceMemory {
  Offset free_bytes = 0;
  Offset total_bytes = 0;
};
// Of the current device.
DeviceMemory device_memory();

// What the arrays of this process hold, on all devices together.
struct DeviceMemoryUse {
  Offset bytes = 0;
  Offset peak_bytes = 0;  // the most since the start, or since reset_device_memory_peak()
};
DeviceMemoryUse device_memory_use();
void reset_device_memory_peak();

// Arrays that would make this process hold more throw DeviceOutOfMemory: for programs that share a
// device. 0, as at the start: no limit but the device's. Throws InvalidArgument if it is negative.
void set_device_memory_limit(Offset bytes);

// What can still be allocated: free memory of the current device, or less where a limit says so.
Offset available_device_memory();

}  // namespace strata::gpu
