#include "strata/fem/gpu/device_local_matrices.hpp"

#include <fmt/format.h>

#include "strata/base/error.hpp"
#include "strata/fem/gpu/internal/local_launch.hpp"

namespace strata::gpu {

template <std::floating_point Real>
DeviceLocalMatrices<Real>::DeviceLocalMatrices(const fem::LocalMatrices<Real>& local,
                                               Stream& stream)
    : rows_(local.mesh().unknowns()),
      slots_(local.slots()),
      degree_(local.mesh().degree),
      symmetric_(local.symmetric()) {
  if (local.block() != local.slots()) {
    throw InvalidArgument(
        fmt::format("local matrices in blocks of {} elements; GPUs take one", local.block()));
  }
  for (int colour = 0; colour < fem::kMeshColours; ++colour) {
    colours_[colour] = local.slots_of(colour);
  }
  values_ = to_device(local.values(), stream);
  unknowns_ = to_device(local.unknowns(), stream);
}

template <std::floating_point Real>
void DeviceLocalMatrices<Real>::multiply(DeviceSpan<const Real> x, DeviceSpan<Real> y,
                                         Stream& stream) const {
  if (x.size() != rows_ || y.size() != rows_) {
    throw InvalidArgument(
        fmt::format("vectors of {} and {} elements for {} unknowns", x.size(), y.size(), rows_));
  }
  fill_zero(y, stream);
  for (const RowRange<Offset>& slots : colours_) {
    detail::launch_local_product<Real>(
        degree_, symmetric_,
        {values_.data(), unknowns_.data(), slots_, slots.begin, slots.end, x.data(), y.data()},
        stream);
  }
}

template class DeviceLocalMatrices<double>;
template class DeviceLocalMatrices<float>;

}  // namespace strata::gpu
