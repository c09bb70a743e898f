#include "strata/plans/gpu/internal/product_candidates.hpp"

#include <optional>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/formats/registry.hpp"
#include "strata/kernels/gpu/stored_product.hpp"
#include "strata/tune/product_search.hpp"

namespace strata::gpu::detail {

namespace {

using I = std::int32_t;

// Of rows that formats are counted on.
constexpr Offset kSampledEntries = Offset{1} << 18;
// More stored values than this per entry, and even few of them are read too slowly.
constexpr double kMostFill = 4;
// Encoded values that take more than this share of the bytes are not worth another candidate.
constexpr double kMostEncodedBytes = 0.98;

FormatSpec packed(Offset height, StoredValues values) {
  return FormatSpec(StoredFormat{Format::packed_sell, height, values});
}
FormatSpec blocks(Offset rows_and_cols) {
  return FormatSpec(Format::bcsr, {{"block_rows", rows_and_cols}, {"block_cols", rows_and_cols}});
}

template <Value V>
class Candidates {
 public:
  Candidates(const Csr<V, I>& matrix, const PowerOptions& options)
      : matrix_(matrix), options_(options), few_(matrix.nnz() < kFewEntries) {
    if (!few_) sample_ = sample_of_rows(matrix, kSampledEntries);
  }

  std::vector<ProductEstimate> list() {
    add_csr();
    for (const Format format : {Format::coo, Format::ell, Format::dia, Format::hyb, Format::sell}) {
      add(FormatSpec(format));
    }
    for (const Offset size : {2, 3}) add(blocks(size));
    // Every height that many entries are encoded in takes seconds.
    for (const Offset height : few_ ? std::vector<Offset>{32, 16, 8} : std::vector<Offset>{16}) {
      add_packed(height);
    }
    return std::move(estimates_);
  }

 private:
  bool wanted(Format format) const {
    return options_.format == Format::automatic || options_.format == format;
  }

  void add_csr() {
    if (!wanted(Format::csr)) return;
    const ProductSpec own{FormatSpec(Format::csr)};
    const ProductSpec taken = with_named_kernel(own, csr_rows(matrix_.row_offsets()));
    const Offset bytes = footprint(matrix_, own.format).bytes();
    for (const CsrKernel kernel : {CsrKernel::stream, CsrKernel::balanced, CsrKernel::classical}) {
      const ProductSpec spec = csr_product_spec(kernel);
      if (spec != taken) estimates_.push_back({spec, bytes});
    }
  }

  // None if it is mostly padding.
  std::optional<Offset> bytes_in(const FormatSpec& format) const {
    // DIA stores columns relative to the row, and rows of a sample have other numbers.
    const bool whole = few_ || format.format() == Format::dia;
    try {
      const Footprint found = footprint(whole ? matrix_ : sample_, format);
      if (found.fill() > kMostFill) return std::nullopt;
      return static_cast<Offset>(found.bytes_per_entry() * static_cast<double>(matrix_.nnz()));
    } catch (const OverflowError&) {
      return std::nullopt;
    }
  }

  void add(const FormatSpec& format) {
    if (!wanted(format.format())) return;
    if (const auto bytes = bytes_in(format)) estimates_.push_back({{format}, *bytes});
  }

  void add_packed(Offset height) {
    if (!wanted(Format::packed_sell)) return;
    const auto full = bytes_in(packed(height, StoredValues::full));
    if (!full) return;
    estimates_.push_back({{packed(height, StoredValues::full)}, *full});
    const auto encoded = bytes_in(packed(height, StoredValues::all));
    if (encoded &&
        static_cast<double>(*encoded) <= kMostEncodedBytes * static_cast<double>(*full)) {
      estimates_.push_back({{packed(height, StoredValues::all)}, *encoded});
    }
  }

  const Csr<V, I>& matrix_;
  const PowerOptions& options_;
  const bool few_;
  Csr<V, I> sample_;
  std::vector<ProductEstimate> estimates_;
};

}  // namespace

template <Value V>
std::vector<ProductEstimate> product_candidates(const Csr<V, I>& matrix,
                                                const PowerOptions& options) {
  return Candidates<V>(matrix, options).list();
}

#define STRATA_INSTANTIATE(V, unused) \
  template std::vector<ProductEstimate> product_candidates(const Csr<V, I>&, const PowerOptions&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
