// What the matrices on a GPU share when they are made: shapes and indices narrowed to the 31 bits
// that kernels count with, and arrays on their way to the device.
#pragma once

#include <span>
#include <type_traits>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/parallel.hpp"
#include "strata/device/array.hpp"
#include "strata/device/device.hpp"
#include "strata/device/stream.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "strata/kernels/gpu/value.hpp"

namespace strata::gpu {

template <class Matrix>
DeviceShape shape_of(const Matrix& matrix) {
  const DeviceProperties device = device_properties(current_device());
  return {narrow<std::int32_t>(matrix.rows(), "the number of rows on a GPU"),
          narrow<std::int32_t>(matrix.cols(), "the number of columns on a GPU"), matrix.nnz(),
          device.warp, device.multiprocessors};
}

// Rows and columns of a matrix whose shape has been checked.
template <Index I>
DeviceArray<std::int32_t> upload_indices(std::span<const I> indices, Stream& stream) {
  if constexpr (std::is_same_v<I, std::int32_t>) {
    return to_device(indices, stream);
  } else {
    Array<std::int32_t> narrowed(indices.size());
    parallel_for(std::ssize(indices),
                 [&](Offset i) { narrowed[i] = static_cast<std::int32_t>(indices[i]); });
    return to_device(std::span<const std::int32_t>(narrowed), stream);
  }
}

template <class T>
DeviceArray<T> upload(const Array<T>& array, Stream& stream) {
  return to_device(std::span<const T>(array), stream);
}

template <class T>
const T* data_or_null(const DeviceArray<T>& array) {
  return array.empty() ? nullptr : array.data();
}

template <Value V>
const DeviceValue<V>* device_values(const DeviceArray<V>& values) {
  return reinterpret_cast<const DeviceValue<V>*>(values.data());
}

}  // namespace strata::gpu
