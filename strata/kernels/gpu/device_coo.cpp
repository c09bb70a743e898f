#include "strata/kernels/gpu/device_coo.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/device/device.hpp"
#include "strata/kernels/gpu/internal/upload.hpp"

namespace strata::gpu {

template <Value V>
template <Index I>
DeviceCoo<V>::DeviceCoo(const Coo<V, I>& matrix, Stream& stream, const DeviceCooOptions& options)
    : shape_(shape_of(matrix)), oversubscription_(options.oversubscription) {
  if (oversubscription_ == 0) {
    const GpuVendor vendor = api() == Api::hip ? GpuVendor::amd : GpuVendor::nvidia;
    oversubscription_ = coo_oversubscription(vendor, nnz());
  }
  if (in_row_order(matrix.row_indices())) {
    upload_sorted(matrix, stream);
  } else {
    upload_sorted(sorted_by_rows(matrix), stream);
  }
}

template <Value V>
template <Index I>
void DeviceCoo<V>::upload_sorted(const Coo<V, I>& matrix, Stream& stream) {
  split_ = split_coo(matrix.row_indices(), matrix.rows(),
                     coo_chunk(nnz(), oversubscription_, shape_.warp));
  row_indices_ = upload_indices(matrix.row_indices(), stream);
  columns_ = upload_indices(matrix.column_indices(), stream);
  values_ = to_device(matrix.values(), stream);
  cut_rows_ = upload(split_.cut_rows, stream);
  cut_into_ = upload(split_.cut_into, stream);
  empty_rows_ = upload(split_.empty_rows, stream);
}

template <Value V>
Offset DeviceCoo<V>::bytes() const {
  return row_indices_.bytes() + columns_.bytes() + values_.bytes() + cut_rows_.bytes() +
         cut_into_.bytes() + empty_rows_.bytes();
}

template <Value V>
CooView<DeviceValue<V>> DeviceCoo<V>::view(ScratchSpan<V> scratch) const {
  return {row_indices_.data(),
          columns_.data(),
          device_values(values_),
          nnz(),
          split_.chunk,
          split_.chunks,
          cut_rows_.data(),
          static_cast<std::int32_t>(cut_rows_.size()),
          empty_rows_.data(),
          static_cast<std::int32_t>(empty_rows_.size()),
          reinterpret_cast<DeviceValue<V>*>(scratch.data()),
          cut_into_.data(),
          cut_into_.empty() ? nullptr : scratch.counters()};
}

#define STRATA_INSTANTIATE(V, I) \
  template DeviceCoo<V>::DeviceCoo(const Coo<V, I>&, Stream&, const DeviceCooOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

#define STRATA_INSTANTIATE_CLASSES(V, unused) template class DeviceCoo<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_CLASSES, );

}  // namespace strata::gpu
