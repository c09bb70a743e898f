// The emulated CUDA runtime: where it is less kind than a GPU, and that a kernel which fails is
// reported as a GPU reports it.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "strata/device/array.hpp"
#include "strata/device/error.hpp"
#include "strata/device/event.hpp"
#include "strata/device/graph.hpp"
#include "strata/device/internal/launch.hpp"
#include "tests/emulator/cuda/kernels.hpp"

namespace strata::emulator {
namespace {

__global__ void trap_kernel() {
  gpu::NativeThread().trap();
}

// The first block waits for the last.
__global__ void wait_kernel(std::uint32_t* flag) {
  gpu::NativeThread thread;
  if (thread.index() != 0) return;
  if (thread.block() == thread.blocks() - 1) thread.store_flag(flag, 1);
  while (thread.block() == 0 && thread.load_flag(flag) == 0) thread.pause();
}

__global__ void number_kernel(int* numbers) {
  numbers[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(gridDim.x);
}

gpu::DeviceArray<std::uint32_t> cleared_flag(gpu::Stream& stream) {
  gpu::DeviceArray<std::uint32_t> flag(1);
  gpu::fill_zero(flag.span(), stream);
  return flag;
}

std::string failure_of(gpu::Stream& stream) {
  try {
    stream.synchronize();
  } catch (const gpu::DeviceError& error) {
    return error.what();
  }
  return "";
}

TEST(EmulatedCuda, WorkWaitsUntilItsStreamIsWaitedFor) {
  gpu::Stream stream;
  gpu::DeviceArray<int> array(1);
  std::vector<int> sent{1};
  std::vector<int> received{0};
  gpu::copy(sent, array.span(), stream);
  gpu::copy(array.span(), std::span(received), stream);
  EXPECT_EQ(received[0], 0);
  sent[0] = 2;  // too early
  stream.synchronize();
  EXPECT_EQ(received[0], 2);
}

TEST(EmulatedCuda, AskingForAnEventOrAStreamMakesProgress) {
  gpu::Stream stream;
  auto flag = cleared_flag(stream);
  gpu::Event event;
  event.record(stream);
  EXPECT_FALSE(event.passed());
  EXPECT_FALSE(event.passed());
  EXPECT_TRUE(event.passed());
  gpu::fill_zero(flag.span(), stream);
  EXPECT_FALSE(stream.idle());
  EXPECT_TRUE(stream.idle());
}

TEST(EmulatedCuda, NewMemoryIsFullOfNaN) {
  gpu::Stream stream;
  const gpu::DeviceArray<double> array(100);
  for (const double number : gpu::to_host(array.span(), stream)) EXPECT_TRUE(std::isnan(number));
}

TEST(EmulatedCuda, EveryThreadKnowsItsPlaceInTheWholeLaunch) {
  gpu::Stream stream;
  gpu::DeviceArray<int> numbers(5 * 64);
  gpu::launch("number_kernel", number_kernel, {.blocks = 5, .threads = 64}, stream, numbers.data());
  for (const int number : gpu::to_host(numbers.span(), stream)) EXPECT_EQ(number, 5);
}

TEST(EmulatedCuda, AKernelThatFailsIsReportedOnceAndWhatIsBehindItNeverRuns) {
  gpu::Stream stream;
  auto flag = cleared_flag(stream);
  stream.synchronize();
  gpu::launch("trap_kernel", trap_kernel, {.blocks = 1, .threads = 32}, stream);
  gpu::launch("wait_kernel", wait_kernel, {.blocks = 1, .threads = 32}, stream, flag.data());
  gpu::Event event;
  event.record(stream);
  EXPECT_NE(failure_of(stream).find("a kernel called trap()"), std::string::npos);
  EXPECT_TRUE(event.passed());
  EXPECT_EQ(gpu::to_host(flag.span(), stream)[0], 0U);
}

TEST(EmulatedCuda, OnlyBlocksOfCooperativeLaunchesMayWaitForEachOther) {
  gpu::Stream stream;
  auto flag = cleared_flag(stream);
  gpu::launch_cooperative("wait_kernel", wait_kernel, {.blocks = 4, .threads = 64}, stream,
                          flag.data());
  EXPECT_EQ(gpu::to_host(flag.span(), stream)[0], 1U);
  gpu::fill_zero(flag.span(), stream);
  gpu::launch("wait_kernel", wait_kernel, {.blocks = 4, .threads = 64}, stream, flag.data());
  EXPECT_NE(failure_of(stream).find("polls a flag that no thread changes any more"),
            std::string::npos);
}

TEST(EmulatedCuda, BlocksOfPartialWarpsAreRefused) {
  gpu::Stream stream;
  EXPECT_THROW(gpu::launch("trap_kernel", trap_kernel, {.blocks = 1, .threads = 33}, stream),
               gpu::DeviceError);
  EXPECT_EQ(failure_of(stream), "");
}

TEST(EmulatedCuda, ArgumentsOfARecordedKernelAreCopied) {
  gpu::Stream stream;
  auto first = cleared_flag(stream);
  auto second = cleared_flag(stream);
  std::uint32_t* flag = first.data();
  const gpu::Graph graph = gpu::Graph::capture(stream, [&] {
    gpu::launch("wait_kernel", wait_kernel, {.blocks = 1, .threads = 32}, stream, flag);
    flag = second.data();
  });
  EXPECT_EQ(gpu::to_host(first.span(), stream)[0], 0U);
  graph.launch(stream);
  EXPECT_EQ(gpu::to_host(first.span(), stream)[0], 1U);
  EXPECT_EQ(gpu::to_host(second.span(), stream)[0], 0U);
}

}  // namespace
}  // namespace strata::emulator
