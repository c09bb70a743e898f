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

  // A stream that the caller has, a cudaStream_t or hipStream_t: what is put into it here and there
  // runs in one order. It stays the caller's, who destroys it, but not before this object and
  // everything that was put into it are done, and who keeps its device current. Null is the legacy
  // default stream, which waits for most other streams and they for it, and which cannot be
  // captured into a graph; a program compiled with default streams per thread has another one and
  // passes cudaStreamPerThread or hipStreamPerThread.
  //
  //   cudaStream_t mine = …;
  //   strata::gpu::Stream stream = strata::gpu::Stream::adopt(mine);
  static Stream adopt(void* native) { return Stream(native, Ownership::callers); }

  // Waits until all of it is done. Throws DeviceError if any of it has failed.
  void synchronize();
  // What comes next in this stream waits until the event's stream has passed the event.
  void wait(const Event& event);
  // Whether all of it is done.
  bool idle() const;

  // The runtime's handle: a cudaStream_t or hipStream_t.
  void* native() const { return handle_.get(); }

 private:
  enum class Ownership { own, callers };
  struct Destroy {
    Ownership ownership;
    void operator()(void* handle) const noexcept;
  };
  Stream(void* handle, Ownership ownership) : handle_(handle, Destroy{ownership}) {}

  std::unique_ptr<void, Destroy> handle_;
};

}  // namespace strata::gpu
