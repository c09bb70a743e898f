// Between device_order.cpp and its kernel in reorder.cu.
#pragma once

#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"

namespace strata::gpu::detail {

// Line i of `to` becomes line source[i] of `from`, or 0 where that is negative; lines have `count`
// elements. Trusts the sizes.
template <Value V>
void launch_reorder(DeviceSpan<const V> from, DeviceSpan<V> to,
                    DeviceSpan<const std::int32_t> source, int count, Stream& stream);

}  // namespace strata::gpu::detail
