#include "strata/plans/internal/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"

namespace strata::detail {

namespace {

// Groups start at multiples of the tallest slice that may be chosen, and so of the others.
constexpr Offset kTallestSlice = 32;
// Rows are sorted by length in windows of so many slices, if that saves this much.
constexpr Offset kSlicesPerSortWindow = 8;
constexpr double kSortingWorthwhile = 0.96;
// Below a byte per index there are hardly any indices: nothing can be gained by another order.
constexpr double kCheapIndex = 1.0;
// Neighbours side by side are worth this many more bytes.
constexpr double kBfsWorthwhile = 1.03;

enum class Lengths { mixed, sorted };

template <Value V, Index I>
Layout<I> layout(const Csr<V, I>& matrix, const LevelStructure<I>& structure,
                 const PowerOptions& options, Offset group_bytes, InnerOrder inner,
                 Lengths lengths) {
  const Offset height = !is_sliced(options.format) ? 1
                        : options.slice_height > 0 ? options.slice_height
                                                   : kTallestSlice;
  LevelGroupOptions<I> groups;
  // The bytes of an entry depend on the format, and that on the order: two for its index is a good
  // guess.
  groups.group_entries = std::max<Offset>(group_bytes / static_cast<Offset>(sizeof(V) + 2), 1);
  groups.alignment = narrow<I>(height, "the slice height");
  groups.inner = inner;
  if (lengths == Lengths::sorted) {
    groups.sort_window = narrow<I>(height * kSlicesPerSortWindow, "the sort window");
  }
  Layout<I> result;
  result.groups = group_levels(matrix.pattern(), structure, groups);
  result.storage = choose_storage(matrix, result.groups.order, options);
  result.name = fmt::format("levels, {}{}", name_of(inner),
                            lengths == Lengths::sorted ? ", sorted by length" : "");
  return result;
}

}  // namespace

template <Value V, Index I>
Layout<I> choose_layout(const Csr<V, I>& matrix, const LevelStructure<I>& structure,
                        const PowerOptions& options, Offset group_bytes) {
  const auto with = [&](InnerOrder inner, Lengths lengths) {
    return layout(matrix, structure, options, group_bytes, inner, lengths);
  };
  InnerOrder inner = InnerOrder::natural;
  Layout<I> best = with(inner, Lengths::mixed);
  if (best.storage.bytes_per_entry < sizeof(V) + kCheapIndex) return best;
  Layout<I> bfs = with(InnerOrder::bfs, Lengths::mixed);
  if (bfs.storage.bytes_per_entry <= kBfsWorthwhile * best.storage.bytes_per_entry) {
    inner = InnerOrder::bfs;
    best = std::move(bfs);
  }
  if (!is_sliced(options.format)) return best;
  Layout<I> sorted = with(inner, Lengths::sorted);
  return sorted.storage.bytes_per_entry < kSortingWorthwhile * best.storage.bytes_per_entry
             ? std::move(sorted)
             : std::move(best);
}

#define STRATA_INSTANTIATE(V, I)                                               \
  template Layout<I> choose_layout(const Csr<V, I>&, const LevelStructure<I>&, \
                                   const PowerOptions&, Offset)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
