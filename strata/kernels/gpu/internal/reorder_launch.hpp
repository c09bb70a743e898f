// Between device_order.cpp and its kernels in reorder.cu.
#pragma once

#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/kernels/gpu/reorder.hpp"

namespace strata::gpu::detail {

// Where the lines of a result come from.
struct LineSources {
  const std::int32_t* source = nullptr;  // of each; none: line i is line i
  Offset lines = 0;
};

// Line i of `to` becomes line source[i] of `from`, or 0 where that is negative; lines have `count`
// elements. Trusts the sizes.
template <Value V>
void launch_reorder(const V* from, V* to, const LineSources& sources, int count, Stream& stream);
template <Value V>
void launch_reorder(const StridedLines<const V>& from, V* to, const LineSources& sources, int count,
                    Stream& stream);
template <Value V>
void launch_reorder(const V* from, const StridedLines<V>& to, const LineSources& sources, int count,
                    Stream& stream);

}  // namespace strata::gpu::detail
