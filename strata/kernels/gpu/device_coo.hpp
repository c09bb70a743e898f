// COO in the memory of a GPU, and a step with it: see device_matrix.hpp.
#pragma once

#include "strata/device/array.hpp"
#include "strata/formats/coo.hpp"
#include "strata/kernels/gpu/coo.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"

namespace strata::gpu {

struct DeviceCooOptions {
  int oversubscription = 0;  // ω; 0 chooses by the vendor and the number of entries
};

template <Value V>
class DeviceCoo {
 public:
  using value_type = V;

  DeviceCoo() = default;
  // Entries in any order: they are sorted by rows first.
  template <Index I>
  DeviceCoo(const Coo<V, I>& matrix, Stream& stream, const DeviceCooOptions& options = {});

  std::int32_t rows() const { return shape_.rows; }
  std::int32_t cols() const { return shape_.cols; }
  Offset nnz() const { return shape_.nnz; }
  RowRange<std::int32_t> all_rows() const { return {0, shape_.rows}; }
  const DeviceShape& shape() const { return shape_; }
  int oversubscription() const { return oversubscription_; }
  const CooSplit& split() const { return split_; }
  // Of a step with so many vectors: the pieces of rows that are cut.
  Offset scratch_elements(int count) const {
    return split_.cut_rows.empty() ? 0 : Offset{2} * split_.chunks * count;
  }
  // On the device.
  Offset bytes() const;

  CooView<DeviceValue<V>> view(ScratchSpan<V> scratch) const;

 private:
  template <Index I>
  void upload_sorted(const Coo<V, I>& matrix, Stream& stream);

  DeviceShape shape_;
  int oversubscription_ = 1;
  CooSplit split_;
  DeviceArray<std::int32_t> row_indices_;
  DeviceArray<std::int32_t> columns_;
  DeviceArray<V> values_;
  DeviceArray<CutRow> cut_rows_;
  DeviceArray<std::int32_t> cut_into_;
  DeviceArray<std::int32_t> empty_rows_;
};

// On all rows: another range throws InvalidArgument, because chunks end anywhere inside rows.
template <Value V>
void step(const DeviceCoo<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse = Reuse::none);

// out += α A x; `previous` is not read.
template <Value V>
void add_product(const DeviceCoo<V>& matrix, Given<V> alpha, const Given<DeviceVectors<V>>& vectors,
                 Stream& stream, Reuse reuse = Reuse::none);

}  // namespace strata::gpu
