// Symmetric CSR and transposed CSR in the memory of a GPU, and a step with them: see
// device_matrix.hpp and, for how they are shared out, scatter_split.hpp.
//
//   const gpu::DeviceTransposedCsr<double> transposed(csr, {}, stream);
//   gpu::DeviceScratch<double> scratch(transposed.scratch_elements(1));
//   step(transposed, {}, {x.span(), {}, y.span(), 1, scratch.span()}, transposed.all_rows(),
//   stream);
#pragma once

#include <optional>

#include "strata/device/array.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/symmetric_csr.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "strata/kernels/gpu/scatter.hpp"

namespace strata::gpu {

// Rows that are multiplied into windows of y.
template <Value V>
class DeviceScatter {
 public:
  DeviceScatter() = default;
  // Throws what split_scatter throws.
  template <Index I>
  DeviceScatter(const Csr<V, I>& matrix, ScatterTargets targets, Mirror mirror, Stream& stream);

  const ScatterSplit& split() const { return split_; }
  Offset scratch_elements(int count) const { return split_.elements() * count; }
  Offset bytes() const;
  ScatterView<DeviceValue<V>> view(DeviceSpan<V> scratch) const;

 private:
  std::int32_t rows_ = 0;
  std::int32_t outputs_ = 0;
  Mirror mirror_ = Mirror::same;
  ScatterSplit split_;
  DeviceArray<Offset> row_offsets_;
  DeviceArray<std::int32_t> columns_;
  DeviceArray<V> values_;
  DeviceArray<ScatterPart> parts_;
  DeviceArray<std::int64_t> tiles_;
  DeviceArray<std::int32_t> tile_parts_;
};

template <Value V>
class DeviceSymmetricCsr {
 public:
  using value_type = V;

  DeviceSymmetricCsr() = default;
  // Throws InvalidArgument if entries are too far from the diagonal for it.
  template <Index I>
  DeviceSymmetricCsr(const SymmetricCsr<V, I>& matrix, Stream& stream);

  std::int32_t rows() const { return shape_.rows; }
  std::int32_t cols() const { return shape_.cols; }
  Offset nnz() const { return shape_.nnz; }
  RowRange<std::int32_t> all_rows() const { return {0, shape_.rows}; }
  const DeviceShape& shape() const { return shape_; }
  const DeviceScatter<V>& lower() const { return lower_; }
  Offset scratch_elements(int count) const { return lower_.scratch_elements(count); }
  // On the device.
  Offset bytes() const { return lower_.bytes(); }

 private:
  DeviceShape shape_;
  DeviceScatter<V> lower_;
};

struct DeviceTransposedOptions {
  bool conjugate = false;        // Aᴴ in place of Aᵀ
  bool transpose_first = false;  // on the host, also where windows are small enough
};

// The transpose of a CSR matrix: rows() are the columns of that matrix. Where windows of y would be
// too large it is transposed on the host, and a step reads the rows of the transpose.
template <Value V>
class DeviceTransposedCsr {
 public:
  using value_type = V;

  DeviceTransposedCsr() = default;
  template <Index I>
  DeviceTransposedCsr(const Csr<V, I>& matrix, const DeviceTransposedOptions& options,
                      Stream& stream);

  std::int32_t rows() const { return shape_.rows; }
  std::int32_t cols() const { return shape_.cols; }
  Offset nnz() const { return shape_.nnz; }
  RowRange<std::int32_t> all_rows() const { return {0, shape_.rows}; }
  const DeviceShape& shape() const { return shape_; }
  // One of the two.
  const DeviceScatter<V>* scattered() const { return scattered_ ? &*scattered_ : nullptr; }
  const DeviceCsr<V>* transposed() const { return transposed_ ? &*transposed_ : nullptr; }
  Offset scratch_elements(int count) const {
    return scattered_    ? scattered_->scratch_elements(count)
           : transposed_ ? transposed_->scratch_elements(count)
                         : 0;
  }
  // On the device.
  Offset bytes() const {
    return scattered_ ? scattered_->bytes() : transposed_ ? transposed_->bytes() : 0;
  }

 private:
  DeviceShape shape_;
  std::optional<DeviceScatter<V>> scattered_;
  std::optional<DeviceCsr<V>> transposed_;
};

// Both on all rows: another range throws InvalidArgument.
template <Value V>
void step(const DeviceSymmetricCsr<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse = Reuse::none);
template <Value V>
void step(const DeviceTransposedCsr<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse = Reuse::none);

}  // namespace strata::gpu
