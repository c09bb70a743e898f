// Launching kernels, for .cu files. Arguments are converted to the kernel's parameters as a call
// would convert them, and failures name the kernel.
#pragma once

#include <memory>
#include <string_view>
#include <type_traits>

#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#ifdef STRATA_GPU_EMULATED
#include "tests/emulator/cuda/registration.hpp"
#endif

namespace strata::gpu {

struct LaunchShape {
  Offset blocks = 0;
  int threads = 0;          // per block
  Offset shared_bytes = 0;  // dynamic shared memory per block
};

namespace detail {

// Kernels by their addresses in the program, arguments by theirs.
void launch_at(std::string_view name, const void* kernel, const LaunchShape& shape, Stream& stream,
               void** arguments);
void launch_cooperative_at(std::string_view name, const void* kernel, const LaunchShape& shape,
                           Stream& stream, void** arguments);
int resident_blocks_at(std::string_view name, const void* kernel, int threads, Offset shared_bytes);
int code_architecture_at(std::string_view name, const void* kernel);

template <class... Parameters>
const void* address_of(void (*kernel)(Parameters...)) {
  const auto* address = reinterpret_cast<const void*>(kernel);
#ifdef STRATA_GPU_EMULATED
  emulator::register_kernel(address, emulator::bind_kernel<Parameters...>);
#endif
  return address;
}

template <class T>
void* address_of_argument(T& argument) {
  return const_cast<std::remove_const_t<T>*>(std::addressof(argument));
}

}  // namespace detail

// kernel<<<blocks, threads, shared_bytes, stream>>>(arguments...); nothing if there are no blocks.
// `name` is for messages.
template <class... Parameters>
void launch(std::string_view name, void (*kernel)(Parameters...), const LaunchShape& shape,
            Stream& stream, std::type_identity_t<Parameters>... arguments) {
  void* pointers[] = {detail::address_of_argument(arguments)..., nullptr};
  detail::launch_at(name, detail::address_of(kernel), shape, stream, pointers);
}

// The same with all blocks resident at once, so that they may wait for each other. Throws
// DeviceError saying how many fit if they do not.
template <class... Parameters>
void launch_cooperative(std::string_view name, void (*kernel)(Parameters...),
                        const LaunchShape& shape, Stream& stream,
                        std::type_identity_t<Parameters>... arguments) {
  void* pointers[] = {detail::address_of_argument(arguments)..., nullptr};
  detail::launch_cooperative_at(name, detail::address_of(kernel), shape, stream, pointers);
}

// How many blocks of the kernel the current device holds at once; 0 if not even one fits. Throws
// DeviceError if a block asks for more shared memory than there is.
template <class... Parameters>
int resident_blocks(std::string_view name, void (*kernel)(Parameters...), int threads,
                    Offset shared_bytes = 0) {
  return detail::resident_blocks_at(name, detail::address_of(kernel), threads, shared_bytes);
}

// Which architecture the kernel's code was compiled for that the current device runs, as 90 for
// compute_90, which is what __CUDA_ARCH__ was; 0 if this build has none that it can run. A build
// need not have code for the very device: the driver compiles what it has for an older one.
template <class... Parameters>
int code_architecture(std::string_view name, void (*kernel)(Parameters...)) {
  return detail::code_architecture_at(name, detail::address_of(kernel));
}

}  // namespace strata::gpu
