#include "strata/device/array.hpp"

#include <fmt/format.h>

#include "strata/device/error.hpp"
#include "strata/device/internal/memory_account.hpp"
#include "strata/device/internal/runtime.hpp"
#include "strata/device/memory.hpp"

namespace strata::gpu::detail {

namespace {

rt::StreamHandle handle_of(Stream& stream) {
  return static_cast<rt::StreamHandle>(stream.native());
}

void copy_bytes(const void* from, void* to, Offset bytes, STRATA_RT(MemcpyKind) kind,
                std::string_view what, Stream& stream) {
  if (bytes == 0) return;
  const rt::Status status =
      STRATA_RT(MemcpyAsync)(to, from, static_cast<std::size_t>(bytes), kind, handle_of(stream));
  if (status == rt::kSuccess) return;
  rt::throw_error(status,
                  fmt::format("{} of {} bytes {}", STRATA_RT_TEXT(MemcpyAsync), bytes, what));
}

// Of the host. Not every system can give as much as it has.
rt::Status allocate_host(void** memory, std::size_t bytes) {
#ifdef STRATA_GPU_HIP
  return hipHostMalloc(memory, bytes, hipHostMallocDefault);
#else
  return cudaMallocHost(memory, bytes);
#endif
}

rt::Status free_host(void* memory) {
#ifdef STRATA_GPU_HIP
  return hipHostFree(memory);
#else
  return cudaFreeHost(memory);
#endif
}

}  // namespace

// Failures of freeing are those of earlier work, and the next call reports them too.
void FreeDevice::operator()(void* memory) const noexcept {
  static_cast<void>(STRATA_RT(Free)(memory));
  give_back_memory(bytes);
}

void FreePinned::operator()(void* memory) const noexcept {
  static_cast<void>(free_host(memory));
}

DeviceBlock allocate_device(Offset bytes) {
  if (bytes == 0) return nullptr;
  const std::string call = fmt::format("{} of {} bytes", STRATA_RT_TEXT(Malloc), bytes);
  if (!take_memory(bytes)) throw DeviceOutOfMemory(call, bytes, available_device_memory());
  void* memory = nullptr;
  const rt::Status status = STRATA_RT(Malloc)(&memory, static_cast<std::size_t>(bytes));
  if (status == rt::kSuccess) return {memory, FreeDevice{bytes}};
  give_back_memory(bytes);
  if (status != rt::kOutOfMemory) rt::throw_error(status, call);
  static_cast<void>(STRATA_RT(GetLastError)());
  throw DeviceOutOfMemory(call, bytes, available_device_memory());
}

PinnedBlock allocate_pinned(Offset bytes) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  const rt::Status status = allocate_host(&memory, static_cast<std::size_t>(bytes));
  if (status == rt::kSuccess) return PinnedBlock(memory);
  rt::throw_error(status, fmt::format("pinning {} bytes of the host", bytes));
}

void copy_to_device(const void* from, void* to, Offset bytes, Stream& stream) {
  copy_bytes(from, to, bytes, STRATA_RT(MemcpyHostToDevice), "to the device", stream);
}

void copy_to_host(const void* from, void* to, Offset bytes, Stream& stream) {
  copy_bytes(from, to, bytes, STRATA_RT(MemcpyDeviceToHost), "to the host", stream);
}

void copy_on_device(const void* from, void* to, Offset bytes, Stream& stream) {
  copy_bytes(from, to, bytes, STRATA_RT(MemcpyDeviceToDevice), "on the device", stream);
}

void fill_bytes(void* memory, std::byte value, Offset bytes, Stream& stream) {
  if (bytes == 0) return;
  STRATA_RT_CALL(MemsetAsync, memory, std::to_integer<int>(value), static_cast<std::size_t>(bytes),
                 handle_of(stream));
}

void require_same_size(Offset from, Offset to) {
  if (from != to) {
    throw InvalidArgument(fmt::format("a copy of {} elements goes to a place for {}", from, to));
  }
}

void require_inside(Offset first, Offset count, Offset size) {
  if (first < 0 || count < 0 || first > size - count) {
    throw InvalidArgument(
        fmt::format("{} elements from element {} on, of an array of {}", count, first, size));
  }
}

Offset array_bytes(Offset count, Offset element_bytes) {
  if (count < 0) throw InvalidArgument(fmt::format("an array of {} elements", count));
  return checked_multiply(count, element_bytes, "bytes of an array on the device");
}

}  // namespace strata::gpu::detail
