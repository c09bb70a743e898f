#include "strata/kernels/gpu/stored_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/formats/registry.hpp"
#include "strata/kernels/gpu/device_matrix_of.hpp"

namespace strata::gpu {

namespace {

template <class Matrix>
class Stored : public StoredProduct<typename Matrix::value_type> {
 public:
  using V = typename Matrix::value_type;

  explicit Stored(std::shared_ptr<const Matrix> matrix) : matrix_(std::move(matrix)) {}

  std::int32_t rows() const override { return matrix_->rows(); }
  std::int32_t cols() const override { return matrix_->cols(); }
  Offset device_bytes() const override { return matrix_->bytes(); }
  Offset scratch_elements(int vectors) const override { return matrix_->scratch_elements(vectors); }
  void run(const StepCoefficients<V>& coefficients, const DeviceVectors<V>& vectors,
           Stream& stream) const override {
    step(*matrix_, coefficients, vectors, matrix_->all_rows(), stream);
  }

 protected:
  const Matrix& matrix() const { return *matrix_; }

 private:
  std::shared_ptr<const Matrix> matrix_;
};

template <Value V>
class StoredCsr final : public Stored<DeviceCsr<V>> {
 public:
  using Stored<DeviceCsr<V>>::Stored;

  std::string label() const override {
    const int threads = this->matrix().threads_per_row();
    switch (this->matrix().kernel()) {
      case CsrKernel::balanced: return "CSR in equal parts";
      case CsrKernel::stream: return "CSR as a stream";
      case CsrKernel::reguly: return label_of(this->matrix().reguly());
      default: return fmt::format("CSR, {} thread{} per row", threads, threads == 1 ? "" : "s");
    }
  }
  std::vector<NamedNumber> kernel_parameters() const override {
    const RegulyParameters& reguly = this->matrix().reguly();
    switch (this->matrix().kernel()) {
      case CsrKernel::classical: return {{"threads_per_row", this->matrix().threads_per_row()}};
      case CsrKernel::reguly:
        return {
            {"coop", reguly.coop}, {"repeat", reguly.repeat}, {"block_size", reguly.block_size}};
      default: return {};
    }
  }
  Offset bytes() const override { return this->matrix().product_bytes(); }
  std::optional<SliceEncodings> encodings() const override { return std::nullopt; }
};

// A format with one kernel. What a product reads is less than what lies on the device.
template <class Matrix>
class StoredInFormat final : public Stored<DeviceMatrix<Matrix>> {
 public:
  StoredInFormat(const Matrix& host, std::string label, Stream& stream)
      : StoredInFormat(host, std::make_shared<const DeviceMatrix<Matrix>>(host, stream),
                       std::move(label)) {}
  // What is known of it on the host: its footprint and, of slices, their encodings.
  template <class Known>
  StoredInFormat(const Known& known, std::shared_ptr<const DeviceMatrix<Matrix>> stored,
                 std::string label)
      : Stored<DeviceMatrix<Matrix>>(std::move(stored)),
        label_(std::move(label)),
        bytes_(known.footprint().bytes()) {
    if constexpr (requires { slice_encodings(known); }) encodings_ = slice_encodings(known);
  }

  std::string label() const override { return label_; }
  std::vector<NamedNumber> kernel_parameters() const override { return {}; }
  Offset bytes() const override { return bytes_; }
  std::optional<SliceEncodings> encodings() const override { return encodings_; }

 private:
  std::string label_;
  Offset bytes_;
  std::optional<SliceEncodings> encodings_;
};

// None for names that GPUs do not know.
std::optional<CsrKernel> csr_kernel_of(const ProductSpec& spec) {
  return csr_kernel_named(name_of(spec));
}

bool has_product(const ProductSpec& spec) {
  if (spec.format.format() == Format::csr) return csr_kernel_of(spec).has_value();
  return spec.kernel.empty() && has_kernel(spec.format, KernelTarget::gpu);
}

}  // namespace

template <Value V, Index I>
std::shared_ptr<const StoredProduct<V>> store_product(const Csr<V, I>& matrix,
                                                      const ProductSpec& spec, Stream& stream) {
  if (!has_product(spec)) {
    throw Unavailable(fmt::format("GPUs have no kernel for the product {}", name_of(spec)));
  }
  if (spec.format.format() == Format::packed_sell) {
    const PackedSellConversion<V, I> conversion(matrix, options_of<PackedSellOptions>(spec.format));
    return std::make_shared<const StoredInFormat<PackedSell<V, I>>>(
        conversion.slices(), std::make_shared<const DevicePackedSell<V>>(conversion, stream),
        label_of(spec.format));
  }
  return with_format(
      matrix, spec.format,
      [&]<class Matrix>(const Matrix& host) -> std::shared_ptr<const StoredProduct<V>> {
        if constexpr (std::same_as<Matrix, Csr<V, I>>) {
          return store_csr_product(host, {.kernel = *csr_kernel_of(spec)}, stream);
        } else if constexpr (HasDeviceMatrix<Matrix>) {
          return std::make_shared<const StoredInFormat<Matrix>>(host, label_of(spec.format),
                                                                stream);
        } else {
          return nullptr;  // has_product
        }
      });
}

template <Value V, Index I>
std::shared_ptr<const StoredProduct<V>> store_csr_product(const Csr<V, I>& matrix,
                                                          const DeviceCsrOptions& options,
                                                          Stream& stream) {
  return product_of<V>(std::make_shared<const DeviceCsr<V>>(matrix, stream, options));
}

template <Value V>
std::shared_ptr<const StoredProduct<V>> product_of(std::shared_ptr<const DeviceCsr<V>> matrix) {
  return std::make_shared<const StoredCsr<V>>(std::move(matrix));
}

ProductSpec csr_product_spec(CsrKernel kernel) {
  const std::string_view prefix = "csr-";
  std::string_view name = name_of(kernel);
  name.remove_prefix(std::min(prefix.size(), name.size()));
  return {FormatSpec(Format::csr), std::string(name)};
}

ProductSpec with_named_kernel(const ProductSpec& spec, const CsrRows& rows) {
  if (spec.format.format() != Format::csr || !spec.kernel.empty()) return spec;
  return csr_product_spec(automatic_choice(rows));
}

#define STRATA_INSTANTIATE_VALUE(V, unused) \
  template std::shared_ptr<const StoredProduct<V>> product_of(std::shared_ptr<const DeviceCsr<V>>)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_VALUE, );
#define STRATA_INSTANTIATE(V, I)                                                               \
  template std::shared_ptr<const StoredProduct<V>> store_product(const Csr<V, I>&,             \
                                                                 const ProductSpec&, Stream&); \
  template std::shared_ptr<const StoredProduct<V>> store_csr_product(                          \
      const Csr<V, I>&, const DeviceCsrOptions&, Stream&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
