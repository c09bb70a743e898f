// Which class holds a format in the memory of a GPU. A format with kernels on GPUs is declared here
// once.
#pragma once

#include <utility>

#include "strata/formats/registry.hpp"
#include "strata/kernels/gpu/device_bcsr.hpp"
#include "strata/kernels/gpu/device_coo.hpp"
#include "strata/kernels/gpu/device_dia.hpp"
#include "strata/kernels/gpu/device_hyb.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "strata/kernels/gpu/device_scatter.hpp"

namespace strata::gpu {

namespace detail {
// Never defined.
template <Value V, Index I>
DeviceCsr<V> device_matrix_of(const Csr<V, I>&);
template <Value V, Index I>
DeviceCoo<V> device_matrix_of(const Coo<V, I>&);
template <Value V, Index I>
DeviceSymmetricCsr<V> device_matrix_of(const SymmetricCsr<V, I>&);
template <Value V, Index I>
DeviceEll<V> device_matrix_of(const Ell<V, I>&);
template <Value V, Index I>
DeviceHyb<V> device_matrix_of(const Hyb<V, I>&);
template <Value V, Index I>
DeviceDia<V> device_matrix_of(const Dia<V, I>&);
template <Value V, Index I>
DeviceBcsr<V> device_matrix_of(const Bcsr<V, I>&);
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
