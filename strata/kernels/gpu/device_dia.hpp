// DIA in the memory of a GPU, and a step with it: see device_matrix.hpp.
#pragma once

#include "strata/device/array.hpp"
#include "strata/formats/dia.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "strata/kernels/gpu/dia.hpp"

namespace strata::gpu {

template <Value V>
class DeviceDia {
 public:
  using value_type = V;

  DeviceDia() = default;
  template <Index I>
  DeviceDia(const Dia<V, I>& matrix, Stream& stream);

  std::int32_t rows() const { return shape_.rows; }
  std::int32_t cols() const { return shape_.cols; }
  Offset nnz() const { return shape_.nnz; }
  RowRange<std::int32_t> all_rows() const { return {0, shape_.rows}; }
  const DeviceShape& shape() const { return shape_; }
  Offset scratch_elements(int) const { return 0; }
  // On the device.
  Offset bytes() const;

  DiaView<DeviceValue<V>> view() const;

 private:
  DeviceShape shape_;
  DeviceArray<std::int32_t> offsets_;
  DeviceArray<V> values_;
  DeviceArray<std::uint64_t> presence_;
};

template <Value V>
void step(const DeviceDia<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse = Reuse::none);

}  // namespace strata::gpu
