// How the emulated runtime knows the types of a kernel's parameters, as nvcc tells CUDA's runtime
// their sizes: launches by the library (strata/device/internal/launch.hpp) register the kernel.
#pragma once

#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>

namespace strata::emulator {

// The kernel with its arguments, which are copied.
using Work = std::function<void()>;
using Bind = Work (*)(const void* kernel, void** arguments);
// Kernels are known from their first use on.
void register_kernel(const void* kernel, Bind bind);

template <class... Parameters>
Work bind_kernel(const void* kernel, void** arguments) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) -> Work {
    const auto function = reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(kernel));
    return
        [function, values = std::tuple<Parameters...>(*static_cast<Parameters*>(arguments[i])...)] {
          std::apply(function, values);
        };
  }(std::index_sequence_for<Parameters...>());
}

}  // namespace strata::emulator
