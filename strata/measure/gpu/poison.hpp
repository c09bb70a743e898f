// poison() of vectors on a GPU.
#pragma once

#include <algorithm>

#include "strata/base/array.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/measure/vectors.hpp"

namespace strata::gpu {

// Done when it returns. Poison comes from the host in pieces, so that it is the same as there and
// takes little memory.
template <Value V>
void poison_on_device(DeviceSpan<V> vector, Stream& stream) {
  constexpr Offset kPiece = Offset{1} << 20;
  Array<V> piece(static_cast<std::size_t>(std::min(vector.size(), kPiece)));
  poison<V>(piece);
  for (Offset begin = 0; begin < vector.size(); begin += kPiece) {
    const Offset size = std::min(vector.size() - begin, kPiece);
    copy(std::span<const V>(piece).first(static_cast<std::size_t>(size)),
         vector.subspan(begin, size), stream);
  }
  stream.synchronize();
}

// Runs `apply` on x full of poison and gives x its numbers back: whatever memory `apply` uses then
// holds none of the numbers that it computed from them.
template <Value V, class Apply>
void apply_to_poison(DeviceSpan<V> x, Stream& stream, const Apply& apply) {
  const Array<V> numbers = to_host(x, stream);
  poison_on_device(x, stream);
  apply();
  copy(std::span<const V>(numbers), x, stream);
  stream.synchronize();
}

}  // namespace strata::gpu
