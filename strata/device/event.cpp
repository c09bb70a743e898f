#include "strata/device/event.hpp"

#include "strata/device/internal/runtime.hpp"
#include "strata/device/stream.hpp"

namespace strata::gpu {

namespace {

rt::EventHandle handle_of(const Event& event) {
  return static_cast<rt::EventHandle>(event.native());
}

}  // namespace

void Event::Destroy::operator()(void* handle) const noexcept {
  // A failure is that of earlier work, and the next call reports it too.
  static_cast<void>(STRATA_RT(EventDestroy)(static_cast<rt::EventHandle>(handle)));
}

Event::Event() {
  rt::EventHandle handle = nullptr;
  STRATA_RT_CALL(EventCreate, &handle);
  handle_.reset(handle);
}

void Event::record(Stream& stream) {
  STRATA_RT_CALL(EventRecord, handle_of(*this), static_cast<rt::StreamHandle>(stream.native()));
}

void Event::synchronize() const {
  STRATA_RT_CALL(EventSynchronize, handle_of(*this));
}

bool Event::passed() const {
  const rt::Status status = STRATA_RT(EventQuery)(handle_of(*this));
  if (status == STRATA_RT(ErrorNotReady)) return false;
  rt::check(status, STRATA_RT_TEXT(EventQuery));
  return true;
}

double seconds_between(const Event& earlier, const Event& later) {
  later.synchronize();
  float milliseconds = 0;
  STRATA_RT_CALL(EventElapsedTime, &milliseconds, handle_of(earlier), handle_of(later));
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace strata::gpu
