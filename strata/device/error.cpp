#include "strata/device/error.hpp"

#include <fmt/format.h>

#include "strata/device/device.hpp"
#include "strata/device/internal/availability.hpp"

namespace strata::gpu {

DeviceOutOfMemory::DeviceOutOfMemory(const std::string& call, Offset bytes_asked, Offset bytes_free)
    : DeviceError(call,
                  fmt::format("out of memory on the device: {} bytes were asked for, {} are free",
                              bytes_asked, bytes_free)),
      bytes_asked_(bytes_asked),
      bytes_free_(bytes_free) {}

namespace rt {

void throw_error(Status status, std::string_view call) {
  static_cast<void>(STRATA_RT(GetLastError)());
  const bool blames_device = status == STRATA_RT(ErrorNoDevice) ||
                             status == STRATA_RT(ErrorInsufficientDriver) ||
                             status == STRATA_RT(ErrorInvalidDevice);
  if (blames_device && device_count() == 0) throw Unavailable(detail::no_gpu_text(why_no_device()));
  throw DeviceError(std::string(call), fmt::format("{} ({})", STRATA_RT(GetErrorString)(status),
                                                   STRATA_RT(GetErrorName)(status)));
}

}  // namespace rt

}  // namespace strata::gpu
