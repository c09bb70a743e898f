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
  constexpr Offset kPoisonPiece = Offset{1} << 20;
  Array<V> piece(static_cast<std::size_t>(std::min(vector.size(), kPoisonPiece)));
  poison<V>(piece);
  for (Offset begin = 0; begin < vector.size(); begin += kPoisonPiece) {
    const Offset size = std::min(vector.size() - begin, kPoisonPiece);
    copy(std::span<const V>(piece).first(static_cast<std::size_t>(size)),
         vector.subspan(begin, size), stream);
  }
  stream.synchronize();
}

}  // namespace strata::gpu
