#include "strata/schedule/tiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata {

template <Index I>
Array<I> cut_rows(std::span<const Offset> bytes_before, Offset tile_bytes, I alignment) {
  if (tile_bytes < 1 || alignment < 1) {
    throw InvalidArgument(
        fmt::format("tiles of {} bytes cut at multiples of {} rows", tile_bytes, alignment));
  }
  const Offset rows = static_cast<Offset>(bytes_before.size()) - 1;
  Array<I> cuts(1, 0);
  while (cuts.back() < rows) {
    const Offset target = bytes_before[cuts.back()] + tile_bytes;
    const auto past = std::ranges::upper_bound(bytes_before, target) - bytes_before.begin();
    // The last aligned row whose data still fits, but at least one aligned step further.
    const Offset fitting = past > rows ? rows : (past - 1) / alignment * alignment;
    const Offset least = (cuts.back() / alignment + 1) * static_cast<Offset>(alignment);
    cuts.push_back(static_cast<I>(std::min(std::max(fitting, least), rows)));
  }
  return cuts;
}

namespace {

// Calls visit(tile) for every tile that the rows of `tile` touch, in increasing order, once each.
template <Index I, class Visit>
void for_each_input(const PatternView<I>& pattern, std::span<const I> row_offsets,
                    std::int32_t tile, std::vector<std::int32_t>& found, Visit&& visit) {
  found.clear();
  found.push_back(tile);
  for (I row = row_offsets[tile]; row < row_offsets[tile + 1]; ++row) {
    // Columns increase, so a tile is looked up once per run of columns inside it.
    I end_of_last = 0;
    for (const I column : pattern.columns_of(row)) {
      if (column < end_of_last) continue;
      const auto next = std::ranges::upper_bound(row_offsets, column);
      end_of_last = *next;
      found.push_back(static_cast<std::int32_t>(next - row_offsets.begin()) - 1);
    }
    if (found.size() > 4096) {
      std::ranges::sort(found);
      found.erase(std::unique(found.begin(), found.end()), found.end());
    }
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  for (const std::int32_t input : found) visit(input);
}

}  // namespace

template <Index I>
Tiling<I> make_tiling(const PatternView<I>& pattern, Array<I> row_offsets,
                      std::span<const Offset> bytes_before) {
  if (pattern.rows != pattern.cols) {
    throw InvalidArgument(
        fmt::format("a {} x {} matrix has no powers", pattern.rows, pattern.cols));
  }
  if (row_offsets.empty() || row_offsets.front() != 0 || row_offsets.back() != pattern.rows ||
      std::ranges::adjacent_find(row_offsets, std::ranges::greater{}) != row_offsets.end() ||
      bytes_before.size() != static_cast<std::size_t>(pattern.rows) + 1) {
    throw InvalidArgument("tiles do not cut the rows of the matrix");
  }
  Tiling<I> tiling;
  const auto tiles = narrow<std::int32_t>(row_offsets.size() - 1, "the number of tiles");
  tiling.row_offsets = std::move(row_offsets);
  tiling.bytes.resize(tiles);
  std::vector<std::vector<std::int32_t>> inputs(tiles);
  parallel_dynamic(tiles, 4, [&](Offset begin, Offset end) {
    std::vector<std::int32_t> found;
    for (auto tile = static_cast<std::int32_t>(begin); tile < end; ++tile) {
      tiling.bytes[tile] =
          bytes_before[tiling.row_offsets[tile + 1]] - bytes_before[tiling.row_offsets[tile]];
      for_each_input<I>(pattern, tiling.row_offsets, tile, found,
                        [&](std::int32_t input) { inputs[tile].push_back(input); });
    }
  });
  tiling.input_offsets.reserve(static_cast<std::size_t>(tiles) + 1);
  for (const auto& list : inputs) {
    tiling.inputs.insert(tiling.inputs.end(), list.begin(), list.end());
    tiling.input_offsets.push_back(static_cast<Offset>(tiling.inputs.size()));
  }
  return tiling;
}

#define STRATA_INSTANTIATE(I)                                     \
  template Array<I> cut_rows(std::span<const Offset>, Offset, I); \
  template Tiling<I> make_tiling(const PatternView<I>&, Array<I>, std::span<const Offset>)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
