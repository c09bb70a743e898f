// Errors of a GPU or of its runtime. A device that is not available is no DeviceError but
// Unavailable.
#pragma once

#include <string>

#include "strata/base/error.hpp"
#include "strata/base/types.hpp"

namespace strata::gpu {

// A call of the runtime failed; what() reads "CALL: the runtime's text". Work on a device is
// asynchronous, so the call that reports a failure may come after the one that caused it.
class DeviceError : public Error {
 public:
  DeviceError(const std::string& call, const std::string& why)
      : Error(call + ": " + why), call_(call) {}
  const std::string& call() const { return call_; }

 private:
  std::string call_;
};

class DeviceOutOfMemory : public DeviceError {
 public:
  DeviceOutOfMemory(const std::string& call, Offset bytes_asked, Offset bytes_free);
  Offset bytes_asked() const { return bytes_asked_; }
  // On the device, when the allocation failed.
  Offset bytes_free() const { return bytes_free_; }

 private:
  Offset bytes_asked_;
  Offset bytes_free_;
};

}  // namespace strata::gpu
