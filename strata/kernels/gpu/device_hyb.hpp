// HYB in the memory of a GPU, and a step with it: see device_matrix.hpp. The ELLPACK part writes
// the rows, then the rest is added to them.
#pragma once

#include <algorithm>

#include "strata/formats/hyb.hpp"
#include "strata/kernels/gpu/device_coo.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"

namespace strata::gpu {

template <Value V>
class DeviceHyb {
 public:
  using value_type = V;

  DeviceHyb() = default;
  template <Index I>
  DeviceHyb(const Hyb<V, I>& matrix, Stream& stream)
      : ell_(matrix.ell(), stream), rest_(matrix.rest(), stream) {}

  std::int32_t rows() const { return ell_.rows(); }
  std::int32_t cols() const { return ell_.cols(); }
  Offset nnz() const { return ell_.nnz() + rest_.nnz(); }
  RowRange<std::int32_t> all_rows() const { return ell_.all_rows(); }
  const DeviceEll<V>& ell() const { return ell_; }
  const DeviceCoo<V>& rest() const { return rest_; }
  // One part after the other uses it.
  Offset scratch_elements(int count) const {
    return std::max(ell_.scratch_elements(count), rest_.scratch_elements(count));
  }
  // On the device.
  Offset bytes() const { return ell_.bytes() + rest_.bytes(); }

 private:
  DeviceEll<V> ell_;
  DeviceCoo<V> rest_;
};

// On all rows, as of COO.
template <Value V>
void step(const DeviceHyb<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse = Reuse::none);

}  // namespace strata::gpu
