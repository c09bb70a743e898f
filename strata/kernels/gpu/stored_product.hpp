// StoredProduct: a matrix on a GPU in a format and with a kernel that are known only when the
// program runs. The counterpart of kernels/cpu/stored_product.hpp.
//
//   const auto product = gpu::store_product(matrix, {parse_format_spec("bcsr")}, stream);
//   DeviceScratch<double> scratch(product->scratch_elements(1));
//   product->run({}, {x.span(), {}, y.span(), 1, scratch.span()}, stream);   // y = Ax
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/slice_encodings.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "strata/kernels/product_spec.hpp"

namespace strata::gpu {

template <Value V>
class StoredProduct {
 public:
  virtual ~StoredProduct() = default;

  virtual std::string label() const = 0;                        // with the kernel that was taken
  virtual Offset bytes() const = 0;                             // that a product reads
  virtual Offset device_bytes() const = 0;                      // with all that goes along
  virtual std::optional<SliceEncodings> encodings() const = 0;  // of packed SELL
  virtual Offset scratch_elements(int vectors) const = 0;
  virtual void run(const StepCoefficients<V>& coefficients, const DeviceVectors<V>& vectors,
                   Stream& stream) const = 0;
};

// Copies the matrix to the device of the stream. Throws what the conversion throws,
// DeviceOutOfMemory, and Unavailable for products that GPUs have no kernel for.
template <Value V, Index I>
std::shared_ptr<const StoredProduct<V>> store_product(const Csr<V, I>& matrix,
                                                      const ProductSpec& spec, Stream& stream);

}  // namespace strata::gpu
