#include "strata/device/stream.hpp"

#include "strata/device/event.hpp"
#include "strata/device/internal/runtime.hpp"

namespace strata::gpu {

namespace {

rt::StreamHandle handle_of(const Stream& stream) {
  return static_cast<rt::StreamHandle>(stream.native());
}

}  // namespace

void Stream::Destroy::operator()(void* handle) const noexcept {
  if (ownership == Ownership::callers) return;
  // The runtime finishes what is still in the stream. A failure is that of earlier work, and the
  // next call reports it too.
  static_cast<void>(STRATA_RT(StreamDestroy)(static_cast<rt::StreamHandle>(handle)));
}

Stream::Stream(StreamPriority priority) : Stream(nullptr, Ownership::own) {
  int lowest = 0;
  int highest = 0;
  STRATA_RT_CALL(DeviceGetStreamPriorityRange, &lowest, &highest);
  rt::StreamHandle handle = nullptr;
  STRATA_RT_CALL(StreamCreateWithPriority, &handle, STRATA_RT(StreamNonBlocking),
                 priority == StreamPriority::high ? highest : lowest);
  handle_.reset(handle);
}

void Stream::synchronize() {
  STRATA_RT_CALL(StreamSynchronize, handle_of(*this));
}

void Stream::wait(const Event& event) {
  STRATA_RT_CALL(StreamWaitEvent, handle_of(*this), static_cast<rt::EventHandle>(event.native()),
                 0);
}

bool Stream::idle() const {
  const rt::Status status = STRATA_RT(StreamQuery)(handle_of(*this));
  if (status == STRATA_RT(ErrorNotReady)) return false;
  rt::check(status, STRATA_RT_TEXT(StreamQuery));
  return true;
}

}  // namespace strata::gpu
