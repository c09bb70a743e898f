// The step of packed SELL with encoded values, which has kernels of its own.
#pragma once

#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

// Rows so short that a thread loads all of its x at once.
inline constexpr int kShortRow = 8;
template <Value V>
bool has_short_rows(const DevicePackedSell<V>& matrix) {
  const Offset threads_per_row = matrix.shape().warp / matrix.slice_height();
  return matrix.nnz() <= kShortRow * threads_per_row * matrix.rows();
}

template <Value V>
void encoded_step(const DevicePackedSell<V>& matrix, const StepArguments<DeviceValue<V>>& arguments,
                  SliceRange range, Stream& stream);

}  // namespace strata::gpu
