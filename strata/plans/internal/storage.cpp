#include "strata/plans/internal/storage.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/registry.hpp"

namespace strata::detail {

namespace {

// In order of preference: tall slices are fastest in the cache, so a later one must save this much.
constexpr double kWorthwhile = 0.97;
// What is harder to decode must save this much.
constexpr double kEncodingWorthwhile = 0.95;

std::vector<Offset> allowed_heights(const PowerOptions& options) {
  return options.slice_height > 0 ? std::vector<Offset>{options.slice_height}
                                  : std::vector<Offset>{32, 8};
}

std::vector<StoredFormat> allowed_storage(const PowerOptions& options) {
  const bool any = options.format == Format::automatic;
  if (!any && !is_sliced(options.format)) return {{options.format, 1}};
  std::vector<StoredFormat> allowed;
  for (const Offset height : allowed_heights(options)) {
    allowed.push_back({any ? Format::packed_sell : options.format, height, StoredValues::full});
  }
  if (any) allowed.push_back({Format::csr, 1});
  return allowed;
}

// About so many entries, in so many pieces, are a sample.
constexpr Offset kSampleEntries = Offset{1} << 17;
constexpr Offset kSamplePieces = 16;
// So many rows are whole slices of any height.
constexpr Offset kWholeSlices = 64;

// Some rows as they are, of a matrix of any shape. Of a row with as many entries as a piece should
// have, these tell as much as all.
template <Value V, Index I>
Csr<V, I> rows_of(const Csr<V, I>& matrix, std::span<const RowRange<I>> ranges) {
  Array<Offset> offsets(1, 0);
  std::vector<Offset> begins;
  for (const RowRange<I>& range : ranges) {
    for (I row = range.begin; row < range.end; ++row) {
      const Offset begin = matrix.row_offsets()[row];
      const Offset entries =
          std::min(matrix.row_offsets()[row + 1] - begin, kSampleEntries / kSamplePieces);
      begins.push_back(begin);
      offsets.push_back(offsets.back() + entries);
    }
  }
  // A few long rows can be most of it, which is copied by all threads.
  Array<I> columns(static_cast<std::size_t>(offsets.back()));
  Array<V> values(columns.size());
  parallel_for(std::ssize(begins), [&](Offset row) {
    const Offset entries = offsets[row + 1] - offsets[row];
    std::copy_n(matrix.columns().begin() + begins[row], entries, columns.begin() + offsets[row]);
    std::copy_n(matrix.values().begin() + begins[row], entries, values.begin() + offsets[row]);
  });
  const auto rows = static_cast<I>(offsets.size() - 1);
  return Csr<V, I>(rows, matrix.cols(), std::move(offsets), std::move(columns), std::move(values));
}

}  // namespace

// Up to 16 pieces of 512 rows, or of fewer where rows are long, spread evenly.
template <Value V, Index I>
Csr<V, I> sample_of(const Csr<V, I>& matrix, const PaddedOrder<I>& order) {
  constexpr Offset kPieces = kSamplePieces;
  constexpr Offset kMostRows = 512;
  const Offset padded_rows = order.padded_rows();
  const Offset rows = kSampleEntries / kPieces * padded_rows / std::max<Offset>(matrix.nnz(), 1);
  const Offset piece_rows = std::clamp(rows / kWholeSlices * kWholeSlices, kWholeSlices, kMostRows);
  std::vector<RowRange<I>> ranges;
  if (padded_rows <= kPieces * kMostRows) {
    ranges.push_back({0, static_cast<I>(padded_rows)});
  } else {
    for (Offset piece = 0; piece < kPieces; ++piece) {
      const Offset begin =
          (padded_rows - piece_rows) * piece / (kPieces - 1) / piece_rows * piece_rows;
      ranges.push_back({static_cast<I>(begin), static_cast<I>(begin + piece_rows)});
    }
  }
  if (order.is_identity()) return rows_of<V, I>(matrix, ranges);
  return reordered_rows<V, I>(matrix, order, ranges);
}

template <Value V, Index I>
Csr<V, I> middle_of(const Csr<V, I>& sample, Offset entries) {
  const std::span<const Offset> offsets = sample.row_offsets();
  RowRange<I> rows{static_cast<I>(sample.rows() / 2 / kWholeSlices * kWholeSlices), 0};
  const auto end_of = [&](Offset begin) {
    return static_cast<I>(std::min<Offset>(begin + kWholeSlices, sample.rows()));
  };
  rows.end = end_of(rows.begin);
  while (rows.end < sample.rows() && offsets[end_of(rows.end)] - offsets[rows.begin] <= entries) {
    rows.end = end_of(rows.end);
  }
  return rows_of<V, I>(sample, std::span(&rows, 1));
}

template <Value V, Index I>
SampledFormat choose_storage(const Csr<V, I>& matrix, const PaddedOrder<I>& order,
                             const PowerOptions& options) {
  const Csr<V, I> sample = sample_of(matrix, order);
  SampledFormat best;
  for (const StoredFormat& stored : allowed_storage(options)) {
    const double bytes = footprint(sample, FormatSpec(stored)).bytes_per_entry();
    if (best.bytes_per_entry == 0 || bytes < kWorthwhile * best.bytes_per_entry) {
      best = {stored, bytes};
    }
  }
  return best;
}

template <Value V, Index I>
std::vector<SampledFormat> full_storage(const Csr<V, I>& sample) {
  std::vector<SampledFormat> formats;
  for (const Offset height : {32, 16, 8}) {
    formats.push_back({{Format::packed_sell, height, StoredValues::full}});
    formats.push_back({{Format::sell, height}});
  }
  formats.push_back({{Format::csr, 1}});
  for (SampledFormat& format : formats) {
    format.bytes_per_entry = footprint(sample, FormatSpec(format.stored)).bytes_per_entry();
  }
  return formats;
}

template <Value V, Index I>
std::vector<SampledFormat> encoded_storage(const Csr<V, I>& sample, const SampledFormat& best,
                                           const PowerOptions& options,
                                           std::span<const StoredValues> levels) {
  const bool packed = best.stored.format == Format::packed_sell;
  if (!packed && options.format != Format::automatic) return {};
  // x and y are moved in any case.
  const double vectors = 2.0 * sizeof(V) * options.vectors * static_cast<double>(sample.rows()) /
                         static_cast<double>(std::max<Offset>(sample.nnz(), 1));
  std::vector<SampledFormat> encoded;
  double fewest = best.bytes_per_entry;
  for (const StoredValues values : levels) {
    SampledFormat found;
    // Where padding spoils slices, it may cost little once values are encoded.
    for (const Offset height :
         packed ? std::vector<Offset>{best.stored.slice_height} : allowed_heights(options)) {
      const StoredFormat stored{Format::packed_sell, height, values};
      const double bytes = footprint(sample, FormatSpec(stored)).bytes_per_entry();
      if (found.bytes_per_entry == 0 || bytes < found.bytes_per_entry) found = {stored, bytes};
    }
    if (found.bytes_per_entry + vectors >= kEncodingWorthwhile * (fewest + vectors)) continue;
    fewest = found.bytes_per_entry;
    encoded.push_back(found);
  }
  return encoded;
}

#define STRATA_INSTANTIATE(V, I)                                                 \
  template Csr<V, I> sample_of(const Csr<V, I>&, const PaddedOrder<I>&);         \
  template Csr<V, I> middle_of(const Csr<V, I>&, Offset);                        \
  template SampledFormat choose_storage(const Csr<V, I>&, const PaddedOrder<I>&, \
                                        const PowerOptions&);                    \
  template std::vector<SampledFormat> full_storage(const Csr<V, I>&);            \
  template std::vector<SampledFormat> encoded_storage(                           \
      const Csr<V, I>&, const SampledFormat&, const PowerOptions&, std::span<const StoredValues>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
