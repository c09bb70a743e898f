#include "strata/device/internal/launch.hpp"

#include <fmt/format.h>

#include "strata/base/checked.hpp"
#include "strata/device/device.hpp"
#include "strata/device/error.hpp"
#include "strata/device/internal/runtime.hpp"

namespace strata::gpu::detail {

namespace {

// A kernel gets this much shared memory without being asked for more.
constexpr Offset kAlwaysAllowed = 48 << 10;

dim3 one_dimension(Offset count, std::string_view what) {
  return dim3(narrow<unsigned>(count, what), 1, 1);
}

std::string shape_text(const LaunchShape& shape) {
  return fmt::format("{} blocks of {} threads with {} bytes of shared memory each", shape.blocks,
                     shape.threads, shape.shared_bytes);
}

void throw_launch_error(rt::Status status, std::string_view name, const LaunchShape& shape) {
  rt::throw_error(status, fmt::format("launching {}, {}", name, shape_text(shape)));
}

// AMD's kernels get what there is without asking.
void allow_shared_memory([[maybe_unused]] std::string_view name,
                         [[maybe_unused]] const void* kernel, [[maybe_unused]] Offset bytes) {
#ifndef STRATA_GPU_HIP
  if (bytes <= kAlwaysAllowed) return;
  const rt::Status status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           narrow<int>(bytes, "shared memory of a block"));
  if (status == rt::kSuccess) return;
  rt::throw_error(
      status, fmt::format("{} bytes of shared memory for {}, of {} that a block can have", bytes,
                          name, device_properties(current_device()).shared_bytes_per_block));
#endif
}

}  // namespace

void launch_at(std::string_view name, const void* kernel, const LaunchShape& shape, Stream& stream,
               void** arguments) {
  if (shape.blocks == 0) return;
  allow_shared_memory(name, kernel, shape.shared_bytes);
  const rt::Status status =
      STRATA_RT(LaunchKernel)(kernel, one_dimension(shape.blocks, "blocks of a kernel"),
                              one_dimension(shape.threads, "threads of a block"), arguments,
                              narrow<std::size_t>(shape.shared_bytes, "shared memory of a block"),
                              static_cast<rt::StreamHandle>(stream.native()));
  if (status != rt::kSuccess) throw_launch_error(status, name, shape);
}

void launch_cooperative_at(std::string_view name, const void* kernel, const LaunchShape& shape,
                           Stream& stream, void** arguments) {
  if (shape.blocks == 0) return;
  allow_shared_memory(name, kernel, shape.shared_bytes);
  const rt::Status status = STRATA_RT(LaunchCooperativeKernel)(
      kernel, one_dimension(shape.blocks, "blocks of a kernel"),
      one_dimension(shape.threads, "threads of a block"), arguments,
      narrow<unsigned>(shape.shared_bytes, "shared memory of a block"),
      static_cast<rt::StreamHandle>(stream.native()));
  if (status == STRATA_RT(ErrorCooperativeLaunchTooLarge)) {
    static_cast<void>(STRATA_RT(GetLastError)());
    throw DeviceError(
        fmt::format("launching {} cooperatively", name),
        fmt::format("{} must be resident at once; {} fit on the device", shape_text(shape),
                    resident_blocks_at(name, kernel, shape.threads, shape.shared_bytes)));
  }
  if (status != rt::kSuccess) throw_launch_error(status, name, shape);
}

int resident_blocks_at(std::string_view name, const void* kernel, int threads,
                       Offset shared_bytes) {
  allow_shared_memory(name, kernel, shared_bytes);
  int per_multiprocessor = 0;
  STRATA_RT_CALL(OccupancyMaxActiveBlocksPerMultiprocessor, &per_multiprocessor, kernel, threads,
                 narrow<std::size_t>(shared_bytes, "shared memory of a block"));
  return checked_multiply(per_multiprocessor, multiprocessor_count(),
                          "blocks that fit on the device");
}

int code_architecture_at(std::string_view name, const void* kernel) {
  rt::FunctionAttributes attributes{};
  const rt::Status status = STRATA_RT(FuncGetAttributes)(&attributes, kernel);
  if (status == STRATA_RT(ErrorInvalidDeviceFunction) || status == rt::kNoKernelImage) {
    static_cast<void>(STRATA_RT(GetLastError)());
    return 0;
  }
  if (status != rt::kSuccess) rt::throw_error(status, fmt::format("finding the code of {}", name));
  return attributes.ptxVersion;
}

}  // namespace strata::gpu::detail
