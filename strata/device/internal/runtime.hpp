// The one place that knows two GPU runtimes. CUDA and HIP give the same functions the same names
// behind their prefixes, so that a prefix is all it takes: STRATA_RT(StreamCreate) is
// cudaStreamCreate or hipStreamCreate. What is named differently has a name of its own here.
//
// For the sources of the GPU library alone: what users include knows no runtime.
#pragma once

#include <string_view>

#ifdef STRATA_GPU_HIP
#ifdef __HIPCC__
#include <hip/hip_runtime.h>
#else
#include <hip/hip_runtime_api.h>
#endif
#define STRATA_RT(name) hip##name
#define STRATA_RT_TEXT(name) "hip" #name
#else
#include <cuda_runtime_api.h>
#define STRATA_RT(name) cuda##name
#define STRATA_RT_TEXT(name) "cuda" #name
#endif

// Calls a function of the runtime and throws DeviceError naming it when it fails.
#define STRATA_RT_CALL(name, ...) \
  ::strata::gpu::rt::check(STRATA_RT(name)(__VA_ARGS__), STRATA_RT_TEXT(name))

namespace strata::gpu::rt {

using Status = STRATA_RT(Error_t);
using StreamHandle = STRATA_RT(Stream_t);
using EventHandle = STRATA_RT(Event_t);
using GraphHandle = STRATA_RT(Graph_t);
using GraphExecHandle = STRATA_RT(GraphExec_t);

inline constexpr Status kSuccess = STRATA_RT(Success);
#ifdef STRATA_GPU_HIP
using Properties = hipDeviceProp_t;
using FunctionAttributes = hipFuncAttributes;
inline constexpr Status kNoKernelImage = hipErrorNoBinaryForGpu;
inline constexpr Status kOutOfMemory = hipErrorOutOfMemory;
inline constexpr auto kClockRate = hipDeviceAttributeClockRate;
inline constexpr auto kMultiprocessors = hipDeviceAttributeMultiprocessorCount;
#else
using Properties = cudaDeviceProp;
using FunctionAttributes = cudaFuncAttributes;
inline constexpr Status kNoKernelImage = cudaErrorNoKernelImageForDevice;
inline constexpr Status kOutOfMemory = cudaErrorMemoryAllocation;
inline constexpr auto kClockRate = cudaDevAttrClockRate;
inline constexpr auto kMultiprocessors = cudaDevAttrMultiProcessorCount;
#endif

// DeviceError, or Unavailable if the error says that there is no device. The runtime clears the
// error, as far as it can: errors that corrupt the device stay.
[[noreturn]] void throw_error(Status status, std::string_view call);

inline void check(Status status, std::string_view call) {
  if (status != kSuccess) throw_error(status, call);
}

}  // namespace strata::gpu::rt
