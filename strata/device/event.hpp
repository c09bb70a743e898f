// Event: a point in the work of a stream. Other streams wait for it, and two of them give the time
// between.
#pragma once

#include <memory>

namespace strata::gpu {

class Stream;

class Event {
 public:
  // On the current device. Counts as passed until it is recorded.
  Event();

  // Records it after all work in the stream; an earlier recording no longer counts.
  void record(Stream& stream);
  // Waits until the stream has passed it. Throws DeviceError if the work before it has failed.
  void synchronize() const;
  bool passed() const;

  // The runtime's handle.
  void* native() const { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(void* handle) const noexcept;
  };
  std::unique_ptr<void, Destroy> handle_;
};

// Between two events that were recorded; waits for the later one.
double seconds_between(const Event& earlier, const Event& later);

}  // namespace strata::gpu
