// BCSR in the memory of a GPU, and a step with it: see device_matrix.hpp.
#pragma once

#include "strata/device/array.hpp"
#include "strata/formats/bcsr.hpp"
#include "strata/kernels/gpu/bcsr.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"

namespace strata::gpu {

template <Value V>
class DeviceBcsr {
 public:
  using value_type = V;

  DeviceBcsr() = default;
  template <Index I>
  DeviceBcsr(const Bcsr<V, I>& matrix, Stream& stream);

  std::int32_t rows() const { return shape_.rows; }
  std::int32_t cols() const { return shape_.cols; }
  Offset nnz() const { return shape_.nnz; }
  RowRange<std::int32_t> all_rows() const { return {0, shape_.rows}; }
  const DeviceShape& shape() const { return shape_; }
  std::int32_t block_cols() const { return block_cols_; }
  int threads_per_row() const { return threads_per_row_; }
  Offset scratch_elements(int) const { return 0; }
  // On the device.
  Offset bytes() const;

  BcsrView<DeviceValue<V>> view() const;

 private:
  DeviceShape shape_;
  std::int32_t block_rows_ = 1;
  std::int32_t block_cols_ = 1;
  int threads_per_row_ = 1;
  DeviceArray<Offset> block_row_offsets_;
  DeviceArray<std::int32_t> block_columns_;
  DeviceArray<V> values_;
  DeviceArray<std::uint64_t> presence_;
};

// On any range of rows, also inside blocks.
template <Value V>
void step(const DeviceBcsr<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse = Reuse::none);

}  // namespace strata::gpu
