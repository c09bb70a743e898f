// Stream: work on a device in the order it was given. Whatever is put into a stream (copies,
// kernels, graphs) runs behind the caller, who waits with synchronize().
#pragma once

#include <memory>

namespace strata::gpu {

class Event;

// Blocks of kernels in streams of high priority start before waiting ones of others.
enum class StreamPriority { normal, high };

class Stream {
 public:
  // On the current device. Takes no heed of other streams, the runtime's default one included.
  explicit Stream(StreamPriority priority = StreamPriority::normal);

  // Waits until all of it is done. Throws DeviceError if any of it has failed.
  void synchronize();
  // What comes next in this stream waits until the event's stream has passed the event.
  void wait(const Event& event);
  // Whether all of it is done.
  bool idle() const;

  // The runtime's handle: a cudaStream_t or hipStream_t.
  void* native() const { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(void* handle) const noexcept;
  };
  std::unique_ptr<void, Destroy> handle_;
};

}  // namespace strata::gpu
