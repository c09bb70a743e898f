// DeviceOrder: a PaddedOrder in the memory of a GPU, which moves vectors between the caller's order
// of the rows and the padded order of a matrix.
#pragma once

#include <cstdint>
#include <type_traits>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/kernels/gpu/reorder.hpp"
#include "strata/order/padded_order.hpp"

namespace strata::gpu {

class DeviceOrder {
 public:
  DeviceOrder() = default;
  // Throws OverflowError if the padded rows need more than 31 bits.
  template <Index I>
  DeviceOrder(const PaddedOrder<I>& order, Stream& stream);

  std::int32_t rows() const { return rows_; }
  std::int32_t padded_rows() const { return padded_rows_; }
  // Whether every row is where it was: gather and scatter are then plain copies.
  bool is_identity() const { return identity_; }
  // On the device.
  Offset bytes() const { return row_at_.bytes() + position_of_.bytes(); }

  // gather moves vectors to the padded order, scatter moves them back, in the order of the stream,
  // for `count` interleaved vectors, 1 … kMaxVectors: element v of row r at r·count + v. Padded
  // rows become 0. The spans have exactly the elements that this needs, or InvalidArgument is
  // thrown, and share nothing.
  template <Value V>
  void gather(DeviceSpan<const std::type_identity_t<V>> of_rows, DeviceSpan<V> padded, int count,
              Stream& stream) const;
  template <Value V>
  void scatter(DeviceSpan<const std::type_identity_t<V>> padded, DeviceSpan<V> of_rows, int count,
               Stream& stream) const;

  // The same for vectors of rows that are not interleaved: element v of row r at
  // data[r·line_stride + v·element_stride]. Their sizes are not known, only that `data` is aligned
  // to the size of its elements, or InvalidArgument is thrown. They share nothing with what is
  // padded, nor elements with each other where they are written.
  template <Value V>
  void gather(const StridedLines<const std::type_identity_t<V>>& of_rows, DeviceSpan<V> padded,
              int count, Stream& stream) const;
  template <Value V>
  void scatter(DeviceSpan<const std::type_identity_t<V>> padded, const StridedLines<V>& of_rows,
               int count, Stream& stream) const;

 private:
  std::int32_t rows_ = 0;
  std::int32_t padded_rows_ = 0;
  bool identity_ = true;
  // Empty for an identity.
  DeviceArray<std::int32_t> row_at_;       // by position
  DeviceArray<std::int32_t> position_of_;  // by row
};

// Rows as they are, as many as the interleaved vectors have, which are `count`.
template <Value V>
void interleave(const StridedLines<const std::type_identity_t<V>>& rows, DeviceSpan<V> interleaved,
                int count, Stream& stream);

}  // namespace strata::gpu
