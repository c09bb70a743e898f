#include "cli/peers_gpu.hpp"

#include "strata/base/instantiate.hpp"
#ifdef STRATA_HAS_VENDOR
#include <fmt/format.h>

#include <limits>

#include "strata/formats/sell.hpp"
#include "strata/vendor/spmv.hpp"
#endif

namespace strata::cli {

#ifdef STRATA_HAS_VENDOR

namespace {

constexpr Offset kSliceHeight = 32;

// The library reads offsets of 32 bits where that is enough.
Offset offset_bytes(std::span<const Offset> offsets) {
  const bool narrow = offsets.back() <= std::numeric_limits<std::int32_t>::max();
  return std::ssize(offsets) * (narrow ? 4 : 8);
}

template <Value V>
Offset entry_bytes(Offset entries) {
  return entries * Offset{sizeof(V) + sizeof(std::int32_t)};
}

void require_entries(Offset entries) {
  if (entries == 0) throw InvalidArgument("cuSPARSE takes no matrices without entries");
}

// `matrix` is what the product uses and has to stay.
template <Value V, Index I, class Matrix>
std::function<void()> multiply_by(std::shared_ptr<vendor::VendorSpmv<V>> product,
                                  std::shared_ptr<const Matrix> matrix,
                                  const GpuOperands<V, I>& operands) {
  return [product = std::move(product), matrix = std::move(matrix), &operands] {
    product->apply(operands.alpha, operands.x, V{}, operands.y, operands.stream);
  };
}

template <Value V, Index I>
GpuProduct csr_product(const GpuOperands<V, I>& operands, vendor::CsrAlgorithm algorithm) {
  const Csr<V, I>& matrix = operands.matrix;
  require_entries(matrix.nnz());
  const auto stored = operands.on_device();
  auto product =
      std::make_shared<vendor::VendorSpmv<V>>(matrix, *stored, algorithm, operands.stream);
  return {entry_bytes<V>(matrix.nnz()) + offset_bytes(matrix.row_offsets()),
          multiply_by(std::move(product), stored, operands)};
}

template <Value V, Index I>
GpuProduct sell_product(const GpuOperands<V, I>& operands) {
  require_entries(operands.matrix.nnz());
  const auto host = Sell<V, I>::from_csr(operands.matrix, {.slice_height = kSliceHeight});
  const auto stored = std::make_shared<const gpu::DeviceSell<V>>(host, operands.stream);
  auto product = std::make_shared<vendor::VendorSpmv<V>>(host, *stored, operands.stream);
  return {entry_bytes<V>(std::ssize(host.values())) + offset_bytes(host.slice_offsets()),
          multiply_by(std::move(product), stored, operands)};
}

FormatSummary format_of(const FormatSpec& spec, std::string label) {
  FormatSummary format(spec);
  format.label = std::move(label);
  return format;
}

}  // namespace

template <Value V, Index I>
std::vector<GpuPeer> make_gpu_peers(const GpuOperands<V, I>& operands) {
  const std::string library = "cuSPARSE " + vendor::library_version();
  std::vector<GpuPeer> peers;
  for (const vendor::CsrAlgorithm algorithm : vendor::kCsrAlgorithms) {
    peers.push_back(
        {format_of(FormatSpec(Format::csr), fmt::format("{} CSR {}", library, name_of(algorithm))),
         [&operands, algorithm] { return csr_product(operands, algorithm); }});
  }
  peers.push_back({format_of(FormatSpec(Format::sell, {{"slice_height", kSliceHeight}}),
                             fmt::format("{} SELL-{}", library, kSliceHeight)),
                   [&operands] { return sell_product(operands); }});
  return peers;
}

#else

template <Value V, Index I>
std::vector<GpuPeer> make_gpu_peers(const GpuOperands<V, I>&) {
  return {};
}

#endif

#define STRATA_INSTANTIATE(V, I) \
  template std::vector<GpuPeer> make_gpu_peers(const GpuOperands<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cli
