#include "strata/device/graph.hpp"

#include <type_traits>

#include "strata/base/checked.hpp"
#include "strata/device/internal/runtime.hpp"

namespace strata::gpu {

namespace {

// The graph as it was recorded, which an executable one is made from.
struct DestroyRecorded {
  void operator()(rt::GraphHandle graph) const noexcept {
    static_cast<void>(STRATA_RT(GraphDestroy)(graph));
  }
};
using Recorded = std::unique_ptr<std::remove_pointer_t<rt::GraphHandle>, DestroyRecorded>;

Recorded record(Stream& stream, FunctionRef<void()> work) {
  const auto handle = static_cast<rt::StreamHandle>(stream.native());
  rt::GraphHandle graph = nullptr;
  // Relaxed: a kernel that is used for the first time is loaded now, which other modes may refuse.
  STRATA_RT_CALL(StreamBeginCapture, handle, STRATA_RT(StreamCaptureModeRelaxed));
  try {
    work();
  } catch (...) {
    // The stream must be usable again; the exception of `work` is the reason that the capture
    // ended.
    static_cast<void>(STRATA_RT(StreamEndCapture)(handle, &graph));
    static_cast<void>(STRATA_RT(GetLastError)());
    const Recorded unfinished(graph);
    throw;
  }
  const rt::Status status = STRATA_RT(StreamEndCapture)(handle, &graph);
  Recorded recorded(graph);
  rt::check(status, STRATA_RT_TEXT(StreamEndCapture));
  return recorded;
}

}  // namespace

void Graph::Destroy::operator()(void* handle) const noexcept {
  static_cast<void>(STRATA_RT(GraphExecDestroy)(static_cast<rt::GraphExecHandle>(handle)));
}

Graph Graph::capture(Stream& stream, FunctionRef<void()> work) {
  const Recorded recorded = record(stream, work);
  std::size_t nodes = 0;
  STRATA_RT_CALL(GraphGetNodes, recorded.get(), nullptr, &nodes);
  rt::GraphExecHandle handle = nullptr;
  STRATA_RT_CALL(GraphInstantiateWithFlags, &handle, recorded.get(), 0);
  Graph graph;
  graph.handle_.reset(handle);
  graph.nodes_ = narrow<Offset>(nodes, "nodes of a graph");
  return graph;
}

void Graph::launch(Stream& stream) const {
  STRATA_RT_CALL(GraphLaunch, static_cast<rt::GraphExecHandle>(handle_.get()),
                 static_cast<rt::StreamHandle>(stream.native()));
}

bool is_captured(const Stream& stream) {
  auto status = STRATA_RT(StreamCaptureStatusNone);
  STRATA_RT_CALL(StreamIsCapturing, static_cast<rt::StreamHandle>(stream.native()), &status);
  return status != STRATA_RT(StreamCaptureStatusNone);
}

}  // namespace strata::gpu
