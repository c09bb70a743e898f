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
#include <vector>

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

  virtual std::int32_t rows() const = 0;
  virtual std::int32_t cols() const = 0;
  virtual std::string label() const = 0;  // with the kernel that was taken
  // What that kernel chose for the matrix: threads_per_row; coop, repeat and block_size.
  virtual std::vector<NamedNumber> kernel_parameters() const = 0;
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
// In CSR, with the parameters of a kernel as well. Throws InvalidArgument for those that no kernel
// has.
template <Value V, Index I>
std::shared_ptr<const StoredProduct<V>> store_csr_product(const Csr<V, I>& matrix,
                                                          const DeviceCsrOptions& options,
                                                          Stream& stream);
// Of a matrix that is there already.
template <Value V>
std::shared_ptr<const StoredProduct<V>> product_of(std::shared_ptr<const DeviceCsr<V>> matrix);

// CSR with this kernel; `automatic` has no name.
ProductSpec csr_product_spec(CsrKernel kernel);
// With the kernel that the device takes by itself, where it has a choice: CSR with csr-stream, say.
// Two products whose named ones are equal are the same.
ProductSpec with_named_kernel(const ProductSpec& spec, const CsrRows& rows);

}  // namespace strata::gpu
