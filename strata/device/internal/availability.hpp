// The messages for devices that are not available.
#pragma once

#include <string>

#include "strata/device/internal/runtime.hpp"

namespace strata::gpu::detail {

// A version as the runtime encodes it, as "13.0".
std::string version_text(int version);

// Why the number of devices could not be determined. The driver's version is 0 where there is no
// driver.
std::string no_device_text(rt::Status status, int driver_version, int runtime_version);

// The message of Unavailable, from what why_no_device() says.
std::string no_gpu_text(const std::string& why_none);

// Throws Unavailable unless there is a device of that number; `why_none` explains a count of 0.
void require_device(int index, int count, const std::string& why_none);

}  // namespace strata::gpu::detail
