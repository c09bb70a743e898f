#include "strata/device/stream.hpp"

#include <stdexcept>
#include <utility>

#include "strata/device/error.hpp"
#include "strata/device/event.hpp"
#include "strata/device/graph.hpp"
#include "strata/device/internal/runtime.hpp"
#include "tests/device/kernels.hpp"
#include "tests/support/gpu.hpp"

namespace strata::test {
namespace {

class Streams : public GpuTest {
 protected:
  static gpu::DeviceArray<int> zeros(Offset size, gpu::Stream& stream) {
    gpu::DeviceArray<int> array(size);
    gpu::fill_zero(array.span(), stream);
    return array;
  }
  static void expect_all(int value, const gpu::DeviceArray<int>& array, gpu::Stream& stream) {
    for (const int element : gpu::to_host(array.span(), stream)) ASSERT_EQ(element, value);
  }
};

TEST_F(Streams, WaitForEventsOfOthers) {
  gpu::Stream first, second;
  const auto array_of = [&] { return zeros(on_gpu_or_emulated(1 << 20, 1 << 14), first); };
  gpu::DeviceArray<int> array = array_of();
  for (int i = 0; i < 20; ++i) {
    add_to_all(array.span(), 1, first);
    gpu::Event done;
    done.record(first);
    second.wait(done);
    add_to_all(array.span(), 2, second);
    gpu::Event back;
    back.record(second);
    first.wait(back);
  }
  first.synchronize();
  EXPECT_TRUE(first.idle());
  expect_all(60, array, first);
}

TEST_F(Streams, EventsTellTime) {
  gpu::Stream stream;
  gpu::DeviceArray<int> array = zeros(on_gpu_or_emulated(1 << 22, 1 << 12), stream);
  gpu::Event begin, end;
  EXPECT_TRUE(begin.passed());
  begin.record(stream);
  for (int i = 0; i < 50; ++i) add_to_all(array.span(), 1, stream);
  end.record(stream);
  EXPECT_GT(gpu::seconds_between(begin, end), 0);
  EXPECT_TRUE(end.passed());
}

TEST_F(Streams, AGraphRunsWhatWasRecordedAsOftenAsItIsLaunched) {
  gpu::Stream stream;
  gpu::DeviceArray<int> array = zeros(1000, stream);
  const gpu::Graph graph = gpu::Graph::capture(stream, [&] {
    for (int i = 0; i < 3; ++i) add_to_all(array.span(), 1, stream);
  });
  EXPECT_EQ(graph.nodes(), 3);
  expect_all(0, array, stream);
  for (int i = 0; i < 4; ++i) graph.launch(stream);
  expect_all(12, array, stream);
}

TEST_F(Streams, TellWhetherTheyAreRecorded) {
  gpu::Stream stream;
  EXPECT_FALSE(gpu::is_captured(stream));
  bool captured = false;
  gpu::Graph::capture(stream, [&] { captured = gpu::is_captured(stream); });
  EXPECT_TRUE(captured);
  EXPECT_FALSE(gpu::is_captured(stream));
}

TEST_F(Streams, ARecordingThatFailsLeavesTheStreamUsable) {
  gpu::Stream stream;
  gpu::DeviceArray<int> array = zeros(1000, stream);
  EXPECT_THROW(gpu::Graph::capture(stream,
                                   [&] {
                                     add_to_all(array.span(), 1, stream);
                                     throw std::runtime_error("enough");
                                   }),
               std::runtime_error);
  EXPECT_THROW(gpu::Graph::capture(stream, [&] { stream.synchronize(); }), gpu::DeviceError);
  add_to_all(array.span(), 5, stream);
  expect_all(5, array, stream);
}

TEST_F(Streams, AdoptOneOfTheCallersAndLeaveItToThem) {
  gpu::rt::StreamHandle callers = nullptr;
  STRATA_RT_CALL(StreamCreate, &callers);
  {
    gpu::Stream adopted = gpu::Stream::adopt(callers);
    EXPECT_EQ(adopted.native(), static_cast<void*>(callers));
    gpu::DeviceArray<int> array = zeros(1 << 20, adopted);
    for (int i = 0; i < 10; ++i) add_to_all(array.span(), 1, adopted);
    // One order, whichever object the work comes through.
    gpu::Stream same = gpu::Stream::adopt(callers);
    add_to_all(array.span(), 5, same);
    gpu::Stream moved = std::move(same);
    expect_all(15, array, moved);
    EXPECT_TRUE(adopted.idle());
    adopted = gpu::Stream();  // drops the caller's, and is one of its own from now on
    EXPECT_NE(adopted.native(), static_cast<void*>(callers));
  }
  // It is still there to be used and to be destroyed.
  gpu::Stream again = gpu::Stream::adopt(callers);
  gpu::DeviceArray<int> array = zeros(1000, again);
  add_to_all(array.span(), 7, again);
  expect_all(7, array, again);
  EXPECT_EQ(STRATA_RT(StreamDestroy)(callers), gpu::rt::kSuccess);
}

TEST_F(Streams, AdoptTheDefaultStream) {
  gpu::Stream stream = gpu::Stream::adopt(nullptr);
  EXPECT_EQ(stream.native(), nullptr);
  gpu::DeviceArray<int> array = zeros(1000, stream);
  add_to_all(array.span(), 3, stream);
  stream.synchronize();
  EXPECT_TRUE(stream.idle());
  expect_all(3, array, stream);
  EXPECT_THROW(gpu::Graph::capture(stream, [] {}), gpu::DeviceError);
}

TEST_F(Streams, RecordedIntoAGraphMayBeTheCallers) {
  gpu::Stream owner;
  gpu::Stream adopted = gpu::Stream::adopt(owner.native());
  gpu::DeviceArray<int> array = zeros(1000, owner);
  const gpu::Graph graph =
      gpu::Graph::capture(adopted, [&] { add_to_all(array.span(), 2, owner); });
  graph.launch(adopted);
  graph.launch(owner);
  expect_all(4, array, owner);
}

}  // namespace
}  // namespace strata::test
