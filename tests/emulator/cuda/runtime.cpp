#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulator/cuda/cuda_runtime_api.h"
#include "tests/emulator/cuda/kernels.hpp"
#include "tests/emulator/cuda/registration.hpp"

namespace emulator = strata::emulator;
using emulator::Work;
using Clock = std::chrono::steady_clock;

// Of one recording of an event. Its stream is gone no sooner than it has passed.
struct Recording {
  cudaStream_t stream = nullptr;
  bool passed = false;
  Clock::time_point time;
};

struct CUevent_st {
  std::shared_ptr<Recording> last;
};

struct CUgraph_st {
  std::vector<Work> nodes;
};
struct CUgraphExec_st {
  std::shared_ptr<const std::vector<Work>> nodes;
};

struct CUstream_st {
  struct Item {
    Work work;
    bool marks_event = false;
  };
  std::deque<Item> waiting;
  std::unique_ptr<CUgraph_st> capture;
  bool capture_is_valid = true;
  bool failed = false;
};

namespace {

// A small GPU with a small cache, so that small matrices fill them. Kernels take so many
// registers that half of its threads are resident.
constexpr int kMultiprocessors = 4;
constexpr int kThreadsPerMultiprocessor = 1024;
constexpr int kResidentThreads = kThreadsPerMultiprocessor / 2;
constexpr int kThreadsPerBlock = 1024;
constexpr int kWarp = 32;
constexpr int kCapabilityMajor = 8;
constexpr int kCapabilityMinor = 0;
constexpr int kClockKilohertz = 1'000'000;
constexpr std::size_t kMemoryBytes = std::size_t{4} << 30;
constexpr int kL2Bytes = 256 << 10;
constexpr std::size_t kSharedBytesPerBlock = std::size_t{163} << 10;
constexpr std::size_t kSharedBytesPerMultiprocessor = std::size_t{164} << 10;
constexpr int kVersion = 12000;  // 12.0

constexpr auto kAlignment = static_cast<std::align_val_t>(256);
constexpr int kGarbage = 0xff;  // NaN in all precisions, and -1

struct Device {
  std::mutex mutex;
  std::map<void*, std::size_t> blocks;
  std::size_t used_bytes = 0;
  std::set<cudaStream_t> streams;
  std::map<const void*, emulator::Bind> kernels;
  std::string failure;  // of the last kernel that failed
  std::uint64_t launches = 0;
};

Device& device() {
  static Device the_device;
  return the_device;
}

using Lock = std::lock_guard<std::mutex>;

thread_local emulator::CurrentLaunch the_launch;
thread_local std::uint64_t clock_nanoseconds = 0;

struct LaunchScope {
  explicit LaunchScope(const emulator::CurrentLaunch& launch) { the_launch = launch; }
  ~LaunchScope() { the_launch = {}; }
  LaunchScope(const LaunchScope&) = delete;
  LaunchScope& operator=(const LaunchScope&) = delete;
};

// Blocks [first, first + count) of a launch, resident together.
struct Launch {
  Work body;
  int blocks = 0;
  int threads = 0;
  std::size_t shared_bytes = 0;

  void run(int first, int count, const emulator::LaunchOptions& options) const {
    emulator::Grid grid(kWarp, count, threads, shared_bytes, options);
    const LaunchScope scope({&grid, first, blocks});
    grid.run([&](int) { body(); });
  }
  void run_in_turn() const {
    for (int block = 0; block < blocks; ++block) run(block, 1, {});
  }
  // In an order that differs from launch to launch.
  void run_together() const {
    constexpr emulator::Order kOrders[] = {emulator::Order::round_robin, emulator::Order::random,
                                           emulator::Order::uneven};
    const std::uint64_t number = device().launches++;
    run(0, blocks, {.order = kOrders[number % std::size(kOrders)], .seed = number});
  }
};

bool is_capturing(cudaStream_t stream) {
  return stream->capture != nullptr;
}

cudaError_t put(cudaStream_t stream, Work work) {
  if (is_capturing(stream)) {
    stream->capture->nodes.push_back(std::move(work));
  } else {
    stream->waiting.push_back({std::move(work)});
  }
  return cudaSuccess;
}

// What waits behind a failure never runs, but events are passed.
void fail(cudaStream_t stream, const std::string& message) {
  device().failure = message;
  stream->failed = true;
  for (const CUstream_st::Item& item : std::exchange(stream->waiting, {})) {
    if (item.marks_event) item.work();
  }
}

void run_next(cudaStream_t stream) {
  const CUstream_st::Item item = std::move(stream->waiting.front());
  stream->waiting.pop_front();
  try {
    item.work();
  } catch (const std::exception& error) {
    fail(stream, error.what());
  }
}

void run_all(cudaStream_t stream) {
  while (!stream->waiting.empty()) run_next(stream);
}

cudaError_t failure_of(cudaStream_t stream) {
  return std::exchange(stream->failed, false) ? cudaErrorLaunchFailure : cudaSuccess;
}

// A stream that is recorded cannot be waited for.
cudaError_t refuse_in_capture(cudaStream_t stream) {
  stream->capture_is_valid = false;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t synchronize_all() {
  cudaError_t status = cudaSuccess;
  for (const cudaStream_t stream : device().streams) {
    run_all(stream);
    if (const cudaError_t failed = failure_of(stream); failed != cudaSuccess) status = failed;
  }
  return status;
}

void run_until_passed(const Recording& recording) {
  while (!recording.passed) run_next(recording.stream);
}

int resident_blocks(int threads, std::size_t shared_bytes) {
  if (threads < 1 || threads > kThreadsPerBlock || shared_bytes > kSharedBytesPerBlock) return 0;
  const int by_threads = std::max(kResidentThreads / threads, 1);
  if (shared_bytes == 0) return by_threads;
  return std::min(by_threads, static_cast<int>(kSharedBytesPerMultiprocessor / shared_bytes));
}

cudaError_t check_shape(dim3 blocks, dim3 threads, std::size_t shared_bytes) {
  if (threads.x % kWarp != 0 || threads.x > kThreadsPerBlock || blocks.x == 0 || threads.x == 0) {
    return cudaErrorInvalidConfiguration;
  }
  return shared_bytes > kSharedBytesPerBlock ? cudaErrorInvalidValue : cudaSuccess;
}

Launch bound(const void* kernel, dim3 blocks, dim3 threads, void** arguments,
             std::size_t shared_bytes) {
  return {device().kernels.at(kernel)(kernel, arguments), static_cast<int>(blocks.x),
          static_cast<int>(threads.x), shared_bytes};
}

}  // namespace

namespace strata::emulator {

const CurrentLaunch& current_launch() {
  return the_launch;
}

std::uint64_t device_nanoseconds() {
  return clock_nanoseconds += 10'000'000;
}

void register_kernel(const void* kernel, Bind bind) {
  const Lock lock(device().mutex);
  device().kernels.emplace(kernel, bind);
}

}  // namespace strata::emulator

const char* cudaGetErrorName(cudaError_t status) {
  switch (status) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorInvalidDeviceFunction: return "cudaErrorInvalidDeviceFunction";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorNoKernelImageForDevice: return "cudaErrorNoKernelImageForDevice";
    case cudaErrorNotReady: return "cudaErrorNotReady";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    case cudaErrorCooperativeLaunchTooLarge: return "cudaErrorCooperativeLaunchTooLarge";
    case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated: return "cudaErrorStreamCaptureInvalidated";
  }
  return "unknown";
}

const char* cudaGetErrorString(cudaError_t status) {
  return status == cudaErrorLaunchFailure ? device().failure.c_str() : "an emulated error";
}

cudaError_t cudaGetLastError() {
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = kVersion;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = kVersion;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {.name = "emulated GPU",
                 .major = kCapabilityMajor,
                 .minor = kCapabilityMinor,
                 .multiProcessorCount = kMultiprocessors,
                 .warpSize = kWarp,
                 .totalGlobalMem = kMemoryBytes,
                 .l2CacheSize = kL2Bytes,
                 .sharedMemPerBlockOptin = kSharedBytesPerBlock,
                 .sharedMemPerMultiprocessor = kSharedBytesPerMultiprocessor,
                 .regsPerMultiprocessor = 65536,
                 .maxThreadsPerMultiProcessor = kThreadsPerMultiprocessor,
                 .cooperativeLaunch = 1};
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrClockRate ? kClockKilohertz : kMultiprocessors;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device_index) {
  return device_index == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaGetDevice(int* device_index) {
  *device_index = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  const Lock lock(device().mutex);
  return synchronize_all();
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = 0;
  *highest = -1;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  const Lock lock(device().mutex);
  if (bytes > kMemoryBytes - device().used_bytes) return cudaErrorMemoryAllocation;
  *memory = ::operator new(bytes, kAlignment, std::nothrow);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*memory, kGarbage, bytes);
  device().blocks.emplace(*memory, bytes);
  device().used_bytes += bytes;
  return cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  const Lock lock(device().mutex);
  const cudaError_t status = synchronize_all();
  const auto block = device().blocks.find(memory);
  if (block == device().blocks.end()) return cudaErrorInvalidValue;
  device().used_bytes -= block->second;
  device().blocks.erase(block);
  ::operator delete(memory, kAlignment);
  return status;
}

cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  *memory = ::operator new(bytes, kAlignment, std::nothrow);
  return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory) {
  const Lock lock(device().mutex);
  const cudaError_t status = synchronize_all();
  ::operator delete(memory, kAlignment);
  return status;
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  const Lock lock(device().mutex);
  *free_bytes = kMemoryBytes - device().used_bytes;
  *total_bytes = kMemoryBytes;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  const Lock lock(device().mutex);
  return put(stream, [=] { std::memcpy(to, from, bytes); });
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  const Lock lock(device().mutex);
  return put(stream, [=] { std::memset(memory, value, bytes); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  const Lock lock(device().mutex);
  *stream = new CUstream_st;
  device().streams.insert(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Lock lock(device().mutex);
  run_all(stream);
  const cudaError_t status = failure_of(stream);
  device().streams.erase(stream);
  delete stream;
  return status;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Lock lock(device().mutex);
  if (is_capturing(stream)) return refuse_in_capture(stream);
  run_all(stream);
  return failure_of(stream);
}

// Who asks again and again sees progress.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const Lock lock(device().mutex);
  if (is_capturing(stream)) return refuse_in_capture(stream);
  if (stream->waiting.empty()) return failure_of(stream);
  run_next(stream);
  return cudaErrorNotReady;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const Lock lock(device().mutex);
  if (is_capturing(stream)) return refuse_in_capture(stream);
  if (event->last == nullptr) return cudaSuccess;
  return put(stream, [recording = event->last] { run_until_passed(*recording); });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  const Lock lock(device().mutex);
  if (is_capturing(stream)) return refuse_in_capture(stream);
  stream->capture = std::make_unique<CUgraph_st>();
  stream->capture_is_valid = true;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Lock lock(device().mutex);
  if (!is_capturing(stream)) return cudaErrorInvalidValue;
  const std::unique_ptr<CUgraph_st> unfinished = std::move(stream->capture);
  if (!stream->capture_is_valid) return cudaErrorStreamCaptureInvalidated;
  *graph = new CUgraph_st(*unfinished);
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const Lock lock(device().mutex);
  *status = is_capturing(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const Lock lock(device().mutex);
  if (is_capturing(stream)) return refuse_in_capture(stream);
  const auto recording = std::make_shared<Recording>();
  recording->stream = stream;
  event->last = recording;
  const auto pass = [recording] {
    recording->time = Clock::now();
    recording->passed = true;
  };
  stream->waiting.push_back({pass, true});
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Lock lock(device().mutex);
  if (event->last == nullptr || event->last->passed) return cudaSuccess;
  run_until_passed(*event->last);
  return failure_of(event->last->stream);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const Lock lock(device().mutex);
  if (event->last == nullptr || event->last->passed) return cudaSuccess;
  run_next(event->last->stream);
  return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t earlier, cudaEvent_t later) {
  const Lock lock(device().mutex);
  if (earlier->last == nullptr || later->last == nullptr) return cudaErrorInvalidValue;
  if (!earlier->last->passed || !later->last->passed) return cudaErrorNotReady;
  const std::chrono::duration<float, std::milli> elapsed = later->last->time - earlier->last->time;
  *milliseconds = elapsed.count();
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*, std::size_t* count) {
  *count = graph->nodes.size();
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long) {
  *exec = new CUgraphExec_st{std::make_shared<const std::vector<Work>>(graph->nodes)};
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  const Lock lock(device().mutex);
  if (is_capturing(stream)) return refuse_in_capture(stream);
  return put(stream, [nodes = exec->nodes] {
    for (const Work& node : *nodes) node();
  });
}

cudaError_t cudaLaunchKernel(const void* kernel, dim3 blocks, dim3 threads, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  const Lock lock(device().mutex);
  if (const cudaError_t wrong = check_shape(blocks, threads, shared_bytes); wrong != cudaSuccess) {
    return wrong;
  }
  return put(stream, [launch = bound(kernel, blocks, threads, arguments, shared_bytes)] {
    launch.run_in_turn();
  });
}

cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 blocks, dim3 threads,
                                        void** arguments, std::size_t shared_bytes,
                                        cudaStream_t stream) {
  const Lock lock(device().mutex);
  if (const cudaError_t wrong = check_shape(blocks, threads, shared_bytes); wrong != cudaSuccess) {
    return wrong;
  }
  const int most = kMultiprocessors * resident_blocks(static_cast<int>(threads.x), shared_bytes);
  if (blocks.x > static_cast<unsigned>(most)) return cudaErrorCooperativeLaunchTooLarge;
  return put(stream, [launch = bound(kernel, blocks, threads, arguments, shared_bytes)] {
    launch.run_together();
  });
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int value) {
  return static_cast<std::size_t>(value) > kSharedBytesPerBlock ? cudaErrorInvalidValue
                                                                : cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  attributes->ptxVersion = 10 * kCapabilityMajor + kCapabilityMinor;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                          std::size_t shared_bytes) {
  *blocks = resident_blocks(threads, shared_bytes);
  return cudaSuccess;
}
