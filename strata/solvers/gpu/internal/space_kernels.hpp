// The kernels of DeviceSpace by their arguments, for device_space.cpp, and that of block Jacobi.
#pragma once

#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#include "strata/kernels/gpu/value.hpp"
#include "strata/solvers/gpu/block_bodies.hpp"
#include "strata/solvers/gpu/program_pass.hpp"

namespace strata::gpu::detail {

// As kernels see it; they know themselves what they only read.
template <Value V>
auto* device_pointer(const V* pointer) {
  return reinterpret_cast<DeviceValue<V>*>(const_cast<V*>(pointer));
}

template <Value V>
void launch_pass(const ProgramPass<DeviceValue<V>>& pass, Stream& stream);

// Tiles and blocks of rows follow from the shape.
struct GramShape {
  int columns_of_b = 1;  // of a tile
  std::int32_t tiles_of_a = 0;
  std::int32_t tiles = 0;
  std::int32_t row_blocks = 1;
  Offset sums = 0;  // elements of scratch memory
};
template <Value V>
GramShape gram_shape(Offset rows, int columns_of_a, int columns_of_b);
template <Value V>
void launch_gram(const GramArguments<DeviceValue<V>>& arguments, const GramShape& shape,
                 Stream& stream);

template <Value V>
void launch_add_product(const AddProductArguments<DeviceValue<V>>& arguments, Stream& stream);

template <Value V>
void launch_transform(const TransformArguments<DeviceValue<V>>& arguments, Stream& stream);

template <Value V>
void launch_block_jacobi(const BlockJacobiArguments<DeviceValue<V>>& arguments, Stream& stream);

}  // namespace strata::gpu::detail
