// What the launches of all formats share, for .cu files.
#pragma once

#include <string_view>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "strata/kernels/gpu/dispatch.hpp"
#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/step.hpp"

namespace strata::gpu {

inline constexpr int kThreads = 128;
#ifdef STRATA_GPU_HIP
inline constexpr int kLargestWarp = 64;
#else
inline constexpr int kLargestWarp = 32;
#endif

// Blocks for so many warps.
inline LaunchShape shape_for(Offset warps, const DeviceShape& matrix) {
  return {.blocks = ceil_div<Offset>(warps, kThreads / matrix.warp), .threads = kThreads};
}

// Calls body(Loads) with how the kernel for so many vectors reads the matrix.
template <int vectors, class Body>
void with_loads([[maybe_unused]] Reuse reuse, Body&& body) {
  if constexpr (vectors == 1) {
    if (reuse == Reuse::soon) return body(FromCache());
  }
  body(FromMemory());
}

// Throw InvalidArgument.
void require_step(const DeviceShape& matrix, std::int32_t row_alignment, Offset x, Offset previous,
                  Offset out, int count, RowRange<std::int32_t> rows);
void require_scratch(Offset elements, Offset needed);
// For formats whose steps write all rows at once.
void require_all_rows(const DeviceShape& matrix, RowRange<std::int32_t> rows,
                      std::string_view format);

// The arguments of the kernels, checked.
template <Value V>
StepArguments<DeviceValue<V>> step_arguments(const DeviceShape& matrix, std::int32_t row_alignment,
                                             const StepCoefficients<V>& coefficients,
                                             const DeviceVectors<V>& vectors,
                                             RowRange<std::int32_t> rows) {
  using T = DeviceValue<V>;
  const bool reads_previous = coefficients.beta != V{};
  require_step(matrix, row_alignment, vectors.x.size(),
               reads_previous ? vectors.previous.size() : vectors.out.size(), vectors.out.size(),
               vectors.count, rows);
  return {reinterpret_cast<const T*>(vectors.x.data()),
          reinterpret_cast<const T*>(vectors.previous.data()),
          reinterpret_cast<T*>(vectors.out.data()),
          device_value(coefficients.alpha),
          device_value(coefficients.shift),
          device_value(coefficients.beta),
          vectors.count};
}

// A range of rows that begins and ends on slices.
inline SliceRange slices_of(RowRange<std::int32_t> rows, std::int32_t height) {
  return {rows.begin / height, ceil_div(rows.end, height)};
}

}  // namespace strata::gpu
