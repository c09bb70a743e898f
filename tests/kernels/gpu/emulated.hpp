// Kernels on the emulator, as step_check.hpp wants to run them: vectors are copied to arrays of
// exactly their size, so that AddressSanitizer sees every step over an end.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <type_traits>
#include <vector>

#include "strata/base/internal/sanitizers.hpp"
#include "strata/kernels/gpu/dispatch.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/value.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/kernels/gpu/step_cases.hpp"

namespace strata::test {

// The typed tests run over values and warps; with sanitizers, where emulation takes minutes each,
// over one of them.
template <class V, int warp>
struct OnWarp {
  using Value = V;
  static constexpr int warp_size = warp;
};
// So do tests with a case per combination of vectors, coefficients and parameters: with sanitizers
// they run the first few.
#ifdef STRATA_ADDRESS_SANITIZER
using ValuesOnWarps = testing::Types<OnWarp<double, 32>>;
inline constexpr std::size_t kMostCases = 2;
#else
inline constexpr std::size_t kMostCases = 100;
using ValuesOnWarps =
    testing::Types<OnWarp<double, 32>, OnWarp<double, 64>, OnWarp<float, 64>,
                   OnWarp<std::complex<float>, 32>, OnWarp<std::complex<double>, 64>>;
#endif

template <Value V>
std::vector<gpu::DeviceValue<V>> device_copy(std::span<const V> values) {
  std::vector<gpu::DeviceValue<V>> copy;
  for (const V value : values) copy.push_back(gpu::device_value(value));
  return copy;
}

// A grid of a few warps and an order that differ from launch to launch.
template <int warp_size, class Body>
void launch_somehow(std::size_t shared_bytes_per_warp, const Body& body) {
  static std::uint64_t launches = 0;
  ++launches;
  const int warps = static_cast<int>(launches % 3) + 1;
  const auto order = launches % 5 == 0 ? emulator::Order::uneven : emulator::Order::round_robin;
  emulator::launch<warp_size>(static_cast<int>(launches / 3 % 3) + 1, warps * warp_size,
                              shared_bytes_per_warp * warps, {order, launches}, body);
}

// A step that kernel(arguments, rows, vectors) launches, with vectors = 1, 2, 4 or 8 as a constant.
template <Value V, class Kernel>
auto emulated(Index32 rows, Index32 cols, const Kernel& kernel) {
  using T = gpu::DeviceValue<V>;
  return [=](const cpu::StepCoefficients<V>& coefficients, const cpu::StepVectors<V>& vectors,
             RowRange<Index32> range) {
    const auto elements = static_cast<std::size_t>(rows) * vectors.count;
    const std::vector<T> x =
        device_copy(std::span(vectors.x, static_cast<std::size_t>(cols) * vectors.count));
    const std::vector<T> previous =
        device_copy(std::span(vectors.previous, vectors.previous == nullptr ? 0 : elements));
    std::vector<T> out = device_copy(std::span<const V>(vectors.out, elements));
    const gpu::StepArguments<T> arguments{x.data(),
                                          previous.data(),
                                          out.data(),
                                          gpu::device_value(coefficients.alpha),
                                          gpu::device_value(coefficients.shift),
                                          gpu::device_value(coefficients.beta),
                                          vectors.count};
    gpu::with_vectors(vectors.count, [&](auto count) { kernel(arguments, range, count); });
    for (std::size_t i = 0; i < elements; ++i) {
      if constexpr (is_complex<V>) {
        vectors.out[i] = V(out[i].re, out[i].im);
      } else {
        vectors.out[i] = out[i];
      }
    }
  };
}

}  // namespace strata::test
