// Strided vectors to the interleaved ones of a plan, and back.
#pragma once

#include <span>

#include "strata/base/parallel.hpp"
#include "strata/order/padded_order.hpp"
#include "strata/plans/strided_vectors.hpp"

namespace strata::detail {

// In the order of the plan; padded rows become 0.
template <Value V, Index I>
void pack(const StridedVectors<const V>& from, const PaddedOrder<I>& order, int count,
          std::span<V> to) {
  parallel_for(order.padded_rows(), [&](Offset position) {
    const Offset row = order.row_at(static_cast<I>(position));
    for (int v = 0; v < count; ++v) {
      to[position * count + v] =
          row < 0 ? V{} : from.data[row * from.row_stride + v * from.vector_stride];
    }
  });
}

// Rows as they are, of which there may be another number than the plan has.
template <Value V>
void pack(const StridedVectors<const V>& from, Offset rows, int count, std::span<V> to) {
  parallel_for(rows, [&](Offset row) {
    for (int v = 0; v < count; ++v) {
      to[row * count + v] = from.data[row * from.row_stride + v * from.vector_stride];
    }
  });
}

template <Value V, Index I>
void unpack(std::span<const V> from, const PaddedOrder<I>& order, int count,
            const StridedVectors<V>& to) {
  parallel_for(order.rows(), [&](Offset row) {
    const Offset position = order.position_of(static_cast<I>(row));
    for (int v = 0; v < count; ++v) {
      to.data[row * to.row_stride + v * to.vector_stride] = from[position * count + v];
    }
  });
}

}  // namespace strata::detail
