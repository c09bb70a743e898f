#include "strata/plans/internal/layout.hpp"

#include <algorithm>
#include <cmath>
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
// Groups are made again if their entries turn out to have other bytes than assumed, by this much.
constexpr double kBytesOff = 0.02;

bool may_be_sliced(const PowerOptions& options) {
  return options.format == Format::automatic || is_sliced(options.format);
}

template <Value V, Index I>
Layout<I> layout(const Csr<V, I>& matrix, const LevelStructure<I>& structure,
                 const PowerOptions& options, double group_entries, InnerOrder inner, bool sorted) {
  const Offset height = !may_be_sliced(options)    ? 1
                        : options.slice_height > 0 ? options.slice_height
                                                   : kTallestSlice;
  LevelGroupOptions<I> groups;
  groups.group_entries = std::max<Offset>(static_cast<Offset>(group_entries), 1);
  groups.alignment = narrow<I>(height, "the slice height");
  groups.inner = inner;
  if (sorted) groups.sort_window = narrow<I>(height * kSlicesPerSortWindow, "the sort window");
  Layout<I> result;
  result.groups = group_levels(matrix.pattern(), structure, groups);
  result.storage = choose_storage(matrix, result.groups.order, options);
  result.order = {RowOrder::Kind::levels, inner, sorted};
  return result;
}

}  // namespace

template <Value V, Index I>
Layout<I> choose_layout(const Csr<V, I>& matrix, const LevelStructure<I>& structure,
                        const PowerOptions& options, Offset group_bytes, double entry_bytes) {
  const auto with = [&](InnerOrder inner, bool sorted) {
    return layout(matrix, structure, options, static_cast<double>(group_bytes) / entry_bytes, inner,
                  sorted);
  };
  const auto bytes = [](const Layout<I>& some) { return some.storage.bytes_per_entry; };
  Layout<I> best = with(structure.copies ? InnerOrder::bfs : InnerOrder::natural, false);
  if (bytes(best) >= sizeof(V) + kCheapIndex) {
    if (!structure.copies) {
      Layout<I> by_search = with(InnerOrder::bfs, false);
      if (bytes(by_search) <= kBfsWorthwhile * bytes(best)) best = std::move(by_search);
    }
    if (may_be_sliced(options)) {
      Layout<I> sorted = with(best.order.inner, true);
      if (bytes(sorted) < kSortingWorthwhile * bytes(best)) best = std::move(sorted);
    }
  }
  if (std::abs(bytes(best) - entry_bytes) <= kBytesOff * entry_bytes) return best;
  entry_bytes = bytes(best);
  return with(best.order.inner, best.order.sorted_by_length);
}

#define STRATA_INSTANTIATE(V, I)                                               \
  template Layout<I> choose_layout(const Csr<V, I>&, const LevelStructure<I>&, \
                                   const PowerOptions&, Offset, double)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
