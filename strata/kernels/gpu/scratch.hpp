// What a step on a GPU needs besides its vectors: elements for partial sums, whose values mean
// nothing between steps, and counters, which are 0 between steps. Pieces of a row count their
// arrivals there, and the last one sets the counter back. Scratch serves the steps of any matrix,
// one stream at a time.
#pragma once

#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/kernels/gpu/arrivals.hpp"

namespace strata::gpu {

// Scratch that a DeviceScratch owns. No other memory will do, for its counters would not be 0.
template <Value V>
class ScratchSpan {
 public:
  constexpr ScratchSpan() = default;

  constexpr V* data() const { return elements_.data(); }
  constexpr Offset size() const { return elements_.size(); }
  constexpr DeviceSpan<V> elements() const { return elements_; }
  // kRowCounters of them; null without elements.
  constexpr std::uint32_t* counters() const { return counters_; }

 private:
  template <Value>
  friend class DeviceScratch;
  constexpr ScratchSpan(DeviceSpan<V> elements, std::uint32_t* counters)
      : elements_(elements), counters_(counters) {}

  DeviceSpan<V> elements_;
  std::uint32_t* counters_ = nullptr;
};

template <Value V>
class DeviceScratch {
 public:
  DeviceScratch() = default;
  // Ready for every stream when it returns. Throws DeviceOutOfMemory.
  explicit DeviceScratch(Offset elements)
      : elements_(elements), counters_(elements == 0 ? 0 : kRowCounters) {
    if (counters_.empty()) return;
    Stream stream;
    fill_zero(counters_.span(), stream);
    stream.synchronize();
  }

  Offset size() const { return elements_.size(); }
  Offset bytes() const { return elements_.bytes() + counters_.bytes(); }
  ScratchSpan<V> span() { return {elements_.span(), counters_.data()}; }

 private:
  DeviceArray<V> elements_;
  DeviceArray<std::uint32_t> counters_;
};

}  // namespace strata::gpu
