// Products of the GPU vendor's library on the same matrix and the same vectors, to compare with.
// For files that are compiled only where there is GPU code.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cli/analysis.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"

namespace strata::cli {

// y = αAx on a GPU, in the order of a stream.
struct GpuProduct {
  Offset bytes = 0;  // of its matrix, without vectors
  std::function<void()> multiply;
};

// What products take when they are run: the vectors may be exchanged between two of them.
template <Value V, Index I>
struct GpuOperands {
  const Csr<V, I>& matrix;
  // The same on the device, uploaded by whoever asks first.
  std::function<std::shared_ptr<const gpu::DeviceCsr<V>>()> on_device;
  gpu::DeviceSpan<const V> x;
  gpu::DeviceSpan<V> y;
  gpu::Stream& stream;
  V alpha = V{1};
};

struct GpuPeer {
  FormatSummary format;  // name, label and parameters; the label names the library too
  // Does what comes before the first product. Throws Error where the library refuses.
  std::function<GpuProduct()> make;
};

// Every algorithm that the library has; none if this build has no such library. The operands must
// outlive them.
template <Value V, Index I>
std::vector<GpuPeer> make_gpu_peers(const GpuOperands<V, I>& operands);

}  // namespace strata::cli
