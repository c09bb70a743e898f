// Which class holds a format in the memory of a GPU. A format with kernels on GPUs is declared here
// once.
#pragma once

#include <utility>

#include "strata/formats/registry.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"

namespace strata::gpu {

namespace detail {
// Never defined.
template <Value V, Index I>
DeviceCsr<V> device_matrix_of(const Csr<V, I>&);
template <Value V, Index I>
DeviceEll<V> device_matrix_of(const Ell<V, I>&);
template <Value V, Index I>
DeviceSell<V> device_matrix_of(const Sell<V, I>&);
template <Value V, Index I>
DevicePackedSell<V> device_matrix_of(const PackedSell<V, I>&);
}  // namespace detail

template <class Matrix>
concept HasDeviceMatrix = requires(const Matrix& matrix) { detail::device_matrix_of(matrix); };

template <HasDeviceMatrix Matrix>
using DeviceMatrix = decltype(detail::device_matrix_of(std::declval<const Matrix&>()));

}  // namespace strata::gpu
