#include "strata/kernels/gpu/reorder.hpp"

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/kernels/gpu/internal/reorder_launch.hpp"
#include "strata/kernels/gpu/value.hpp"

namespace strata::gpu {

namespace {

constexpr int kReorderThreads = 256;

template <class T>
__global__ void reorder_kernel(ReorderArguments<T> arguments) {
  NativeThread thread;
  reorder(thread, arguments);
}

}  // namespace

template <Value V>
void detail::launch_reorder(DeviceSpan<const V> from, DeviceSpan<V> to,
                            DeviceSpan<const std::int32_t> source, int count, Stream& stream) {
  using T = DeviceValue<V>;
  const ReorderArguments<T> arguments{reinterpret_cast<const T*>(from.data()),
                                      reinterpret_cast<T*>(to.data()), source.data(),
                                      static_cast<std::int32_t>(source.size()), count};
  const LaunchShape shape{.blocks = ceil_div<Offset>(source.size(), kReorderThreads),
                          .threads = kReorderThreads};
  launch("reorder_kernel", reorder_kernel<T>, shape, stream, arguments);
}

#define STRATA_INSTANTIATE(V, unused)                                      \
  template void detail::launch_reorder(DeviceSpan<const V>, DeviceSpan<V>, \
                                       DeviceSpan<const std::int32_t>, int, Stream&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
