#include "strata/kernels/gpu/device_dia.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/gpu/internal/upload.hpp"

namespace strata::gpu {

template <Value V>
template <Index I>
DeviceDia<V>::DeviceDia(const Dia<V, I>& matrix, Stream& stream)
    : shape_(shape_of(matrix)),
      offsets_(upload_indices(matrix.offsets(), stream)),
      values_(to_device(matrix.values(), stream)),
      presence_(to_device(matrix.presence().words(), stream)) {
  narrow<std::int32_t>(matrix.diagonals(), "the number of diagonals on a GPU");
}

template <Value V>
Offset DeviceDia<V>::bytes() const {
  return offsets_.bytes() + values_.bytes() + presence_.bytes();
}

template <Value V>
DiaView<DeviceValue<V>> DeviceDia<V>::view() const {
  return {offsets_.data(),
          device_values(values_),
          {data_or_null(presence_)},
          rows(),
          cols(),
          static_cast<std::int32_t>(offsets_.size())};
}

#define STRATA_INSTANTIATE(V, I) template DeviceDia<V>::DeviceDia(const Dia<V, I>&, Stream&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

#define STRATA_INSTANTIATE_CLASSES(V, unused) template class DeviceDia<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_CLASSES, );

}  // namespace strata::gpu
