#include "strata/plans/internal/storage.hpp"

#include <fmt/format.h>

#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/formats/sell.hpp"

namespace strata::detail {

namespace {

// In order of preference: tall slices are fastest in the cache, so a later one must save this much.
constexpr double kWorthwhile = 0.97;

std::vector<StorageChoice> allowed_storage(const PowerOptions& options) {
  const std::vector<Offset> heights = options.slice_height > 0
                                          ? std::vector<Offset>{options.slice_height}
                                          : std::vector<Offset>{32, 8};
  std::vector<StorageChoice> allowed;
  const bool any = options.format == PowerFormat::automatic;
  for (const Offset height : heights) {
    if (any || options.format == PowerFormat::packed_sell) {
      allowed.push_back({PowerFormat::packed_sell, height});
    }
    if (options.format == PowerFormat::sell) allowed.push_back({PowerFormat::sell, height});
  }
  if (any || options.format == PowerFormat::csr) allowed.push_back({PowerFormat::csr, 1});
  if (options.format == PowerFormat::ell) allowed.push_back({PowerFormat::ell, 1});
  return allowed;
}

template <Value V, Index I>
double bytes_per_entry(const Csr<V, I>& sample, const StorageChoice& storage) {
  switch (storage.format) {
    case PowerFormat::sell:
      return Sell<V, I>::footprint_of(sample, {.slice_height = storage.slice_height})
          .bytes_per_entry();
    case PowerFormat::packed_sell:
      return PackedSell<V, I>::footprint_of(sample, {.slice_height = storage.slice_height})
          .bytes_per_entry();
    default: return sample.footprint().bytes_per_entry();
  }
}

// Up to 16 pieces of 512 rows, spread evenly.
template <Value V, Index I>
Csr<V, I> sample_of(const Csr<V, I>& matrix, const PaddedOrder<I>& order) {
  constexpr Offset kPieces = 16;
  constexpr Offset kRows = 512;
  const Offset padded_rows = order.padded_rows();
  std::vector<RowRange<I>> ranges;
  if (padded_rows <= kPieces * kRows) {
    ranges.push_back({0, static_cast<I>(padded_rows)});
  } else {
    for (Offset piece = 0; piece < kPieces; ++piece) {
      const Offset begin = (padded_rows - kRows) * piece / (kPieces - 1) / kRows * kRows;
      ranges.push_back({static_cast<I>(begin), static_cast<I>(begin + kRows)});
    }
  }
  return reordered_rows<V, I>(matrix, order, ranges);
}

}  // namespace

std::string StorageChoice::name() const {
  if (!is_sliced(format)) return std::string(name_of(format));
  return fmt::format("{} C={}", name_of(format), slice_height);
}

template <Value V, Index I>
StorageChoice choose_storage(const Csr<V, I>& matrix, const PaddedOrder<I>& order,
                             const PowerOptions& options) {
  const Csr<V, I> sample = sample_of(matrix, order);
  StorageChoice best;
  for (StorageChoice storage : allowed_storage(options)) {
    storage.bytes_per_entry = bytes_per_entry(sample, storage);
    if (best.bytes_per_entry == 0 || storage.bytes_per_entry < kWorthwhile * best.bytes_per_entry) {
      best = storage;
    }
  }
  return best;
}

#define STRATA_INSTANTIATE(V, I)                                                 \
  template StorageChoice choose_storage(const Csr<V, I>&, const PaddedOrder<I>&, \
                                        const PowerOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
