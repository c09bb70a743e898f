// The vendor's operations on vectors (cuBLAS), to compare with: as iterative methods use them, with
// scalars in device memory, so that nobody waits for these.
#pragma once

#include <memory>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"

namespace strata::vendor {

// Throws gpu::DeviceError for what the library refuses. Everything is put into the stream.
template <Value V>
class VendorBlas {
 public:
  explicit VendorBlas(gpu::Stream& stream);
  VendorBlas(VendorBlas&&) noexcept;
  ~VendorBlas();

  // result = Σ conj(x_i) y_i
  void dot(gpu::DeviceSpan<const V> x, gpu::DeviceSpan<const V> y, V* result);
  // y = y + αx
  void axpy(const V* alpha, gpu::DeviceSpan<const V> x, gpu::DeviceSpan<V> y);
  // x = αx
  void scale(const V* alpha, gpu::DeviceSpan<V> x);
  // y = x + βy in one pass, by the sum of matrices of one column; `one` is 1.
  void xpby(const V* one, gpu::DeviceSpan<const V> x, const V* beta, gpu::DeviceSpan<V> y);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strata::vendor
