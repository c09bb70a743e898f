// Graph: work for a stream that is recorded once and launched many times, for less than its kernels
// cost one by one.
#pragma once

#include <memory>

#include "strata/base/function_ref.hpp"
#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"

namespace strata::gpu {

class Graph {
 public:
  // Records what `work` puts into the stream; none of it runs. `work` must not synchronise or
  // allocate. The arrays that it uses must live as long as the graph is launched.
  static Graph capture(Stream& stream, FunctionRef<void()> work);

  // Puts all of it into the stream, any number of times.
  void launch(Stream& stream) const;

  // Kernels, copies and fills in it.
  Offset nodes() const { return nodes_; }

 private:
  Graph() = default;

  struct Destroy {
    void operator()(void* handle) const noexcept;
  };
  std::unique_ptr<void, Destroy> handle_;  // of the executable graph
  Offset nodes_ = 0;
};

// Whether what is put into the stream is being recorded instead of run.
bool is_captured(const Stream& stream);

}  // namespace strata::gpu
