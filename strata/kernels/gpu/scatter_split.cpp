#include "strata/kernels/gpu/scatter_split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/kernels/gpu/group_rules.hpp"

namespace strata::gpu {

namespace {

// Fewer warps than this are slower than reading twice the bytes with all of them, where there are
// entries enough for all.
constexpr Offset kFewestParts = kCoreWarps;
constexpr Offset kManyEntries = kFewestParts * kScatterEntries;

template <Index I>
Offset outputs(const PatternView<I>& pattern, ScatterTargets targets) {
  return targets == ScatterTargets::columns ? pattern.cols : pattern.rows;
}

// With parts of at least so many entries each, but for the last one.
template <Index I>
Array<ScatterPart> parts_of(const PatternView<I>& pattern, ScatterTargets targets, Offset entries) {
  Array<ScatterPart> parts;
  Offset place = 0;
  I row = 0;
  while (row < pattern.rows) {
    const I first_row = row;
    I low = static_cast<I>(outputs(pattern, targets));
    I high = 0;
    const auto cover = [&](I begin, I end) {
      low = std::min(low, begin);
      high = std::max(high, end);
    };
    const Offset begin = pattern.row_offsets[first_row];
    while (row < pattern.rows && (row == first_row || pattern.row_offsets[row] - begin < entries)) {
      const Offset first = pattern.row_offsets[row];
      const Offset end = pattern.row_offsets[row + 1];
      if (first < end) cover(pattern.columns[first], pattern.columns[end - 1] + 1);
      if (targets == ScatterTargets::columns_and_rows) cover(row, row + 1);
      ++row;
    }
    if (high < low) low = high;
    parts.push_back({place, narrow<std::int32_t>(first_row, "a row on a GPU"),
                     narrow<std::int32_t>(low, "an element of y on a GPU")});
    place = checked_add<Offset>(place, high - low, "the elements of all windows");
  }
  parts.push_back({place, narrow<std::int32_t>(row, "the number of rows on a GPU"), 0});
  return parts;
}

struct Parts {
  Array<ScatterPart> list;
  Offset most_elements;
  bool fit() const { return list.back().window <= most_elements; }
};

// The smallest parts whose windows are not too large, or the first that are too few.
template <Index I>
Parts largest_number_of_parts(const PatternView<I>& pattern, ScatterTargets targets,
                              Offset entries_of_part) {
  const Offset nnz = pattern.entries();
  Parts parts{{}, kScatterWindows * (nnz + outputs(pattern, targets))};
  // One part always fits: its window is no larger than y.
  for (Offset entries = entries_of_part;; entries *= 2) {
    parts.list = parts_of(pattern, targets, entries);
    const bool too_few = nnz >= kManyEntries && std::ssize(parts.list) - 1 < kFewestParts;
    if (parts.fit() || too_few) return parts;
  }
}

void list_tiles(ScatterSplit& split, Offset outputs) {
  const Offset tiles = ceil_div<Offset>(outputs, kScatterTile);
  const auto for_each_tile = [&](const auto& body) {
    for (std::int32_t part = 0; part < split.count(); ++part) {
      const Offset size = split.parts[part + 1].window - split.parts[part].window;
      if (size == 0) continue;
      const Offset first = split.parts[part].first_element;
      for (Offset tile = first / kScatterTile; tile <= (first + size - 1) / kScatterTile; ++tile) {
        body(tile, part);
      }
    }
  };
  split.tiles.assign(tiles + 1, 0);
  for_each_tile([&](Offset tile, std::int32_t) { ++split.tiles[tile + 1]; });
  for (Offset tile = 0; tile < tiles; ++tile) split.tiles[tile + 1] += split.tiles[tile];
  split.tile_parts.resize(split.tiles.back());
  Array<std::int64_t> next(split.tiles.begin(), split.tiles.end() - 1);
  for_each_tile([&](Offset tile, std::int32_t part) { split.tile_parts[next[tile]++] = part; });
}

}  // namespace

template <Index I>
ScatterSplit split_scatter(const PatternView<I>& pattern, ScatterTargets targets,
                           Offset entries_of_part) {
  Parts parts = largest_number_of_parts(pattern, targets, entries_of_part);
  if (!parts.fit()) {
    throw InvalidArgument(
        fmt::format("entries are too far apart for products that add to windows of y: {} parts of "
                    "the rows have "
                    "windows of {} elements, and {} are allowed",
                    std::ssize(parts.list) - 1, parts.list.back().window, parts.most_elements));
  }
  ScatterSplit split;
  split.parts = std::move(parts.list);
  narrow<std::int32_t>(std::ssize(split.parts), "the number of parts");
  list_tiles(split, outputs(pattern, targets));
  return split;
}

template <Index I>
bool can_scatter(const PatternView<I>& pattern, ScatterTargets targets) {
  return largest_number_of_parts(pattern, targets, kScatterEntries).fit();
}

#define STRATA_INSTANTIATE(I)                                                         \
  template ScatterSplit split_scatter(const PatternView<I>&, ScatterTargets, Offset); \
  template bool can_scatter(const PatternView<I>&, ScatterTargets)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
