#include "strata/schedule/tiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata {

template <Index I>
Array<I> cut_rows(std::span<const Offset> bytes_before, RowRange<I> rows, Offset piece_bytes,
                  I alignment) {
  if (piece_bytes < 1 || alignment < 1) {
    throw InvalidArgument(
        fmt::format("pieces of {} bytes cut at multiples of {} rows", piece_bytes, alignment));
  }
  Array<I> cuts(1, rows.begin);
  const auto end = bytes_before.begin() + rows.end + 1;
  while (cuts.back() < rows.end) {
    const Offset room = std::numeric_limits<Offset>::max() - bytes_before[cuts.back()];
    const Offset target = bytes_before[cuts.back()] + std::min(piece_bytes, room);
    const auto past = std::upper_bound(bytes_before.begin() + cuts.back(), end, target);
    // The last aligned row whose data still fits, but at least one aligned step further.
    const Offset fitting =
        past == end ? rows.end : (past - bytes_before.begin() - 1) / alignment * alignment;
    const Offset least = (cuts.back() / alignment + 1) * static_cast<Offset>(alignment);
    cuts.push_back(static_cast<I>(std::min<Offset>(std::max(fitting, least), rows.end)));
  }
  return cuts;
}

namespace {

using TileLists = std::vector<std::vector<std::int32_t>>;

void sort_unique(std::vector<std::int32_t>& list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// The tiles that the rows of `tile` touch, increasing.
template <Index I>
void find_tiles_read(const PatternView<I>& pattern, std::span<const I> row_offsets,
                     std::int32_t tile, std::vector<std::int32_t>& found) {
  constexpr std::size_t kTooMany = 4096;
  for (I row = row_offsets[tile]; row < row_offsets[tile + 1]; ++row) {
    // Columns increase, so a tile is looked up once per run of columns inside it.
    I end_of_last = 0;
    for (const I column : pattern.columns_of(row)) {
      if (column < end_of_last) continue;
      const auto next = std::ranges::upper_bound(row_offsets, column);
      end_of_last = *next;
      found.push_back(static_cast<std::int32_t>(next - row_offsets.begin()) - 1);
    }
    if (found.size() > kTooMany) sort_unique(found);
  }
  sort_unique(found);
}

// Who reads a tile becomes an input of it, and so does the tile itself.
void add_readers(TileLists& lists) {
  const auto tiles = static_cast<std::int32_t>(lists.size());
  TileLists readers(lists.size());
  for (std::int32_t tile = 0; tile < tiles; ++tile) {
    for (const std::int32_t input : lists[tile]) readers[input].push_back(tile);
  }
  parallel_dynamic(tiles, 64, [&](Offset begin, Offset end) {
    for (auto tile = static_cast<std::int32_t>(begin); tile < end; ++tile) {
      auto& list = lists[tile];
      list.insert(list.end(), readers[tile].begin(), readers[tile].end());
      list.push_back(tile);
      sort_unique(list);
    }
  });
}

template <Index I>
void require_groups(const PatternView<I>& pattern, std::span<const Offset> bytes_before,
                    std::span<const I> group_rows) {
  if (pattern.rows != pattern.cols) {
    throw InvalidArgument(
        fmt::format("a {} x {} matrix has no powers", pattern.rows, pattern.cols));
  }
  if (group_rows.empty() || group_rows.front() != 0 || group_rows.back() != pattern.rows ||
      std::ranges::adjacent_find(group_rows, std::ranges::greater{}) != group_rows.end() ||
      bytes_before.size() != static_cast<std::size_t>(pattern.rows) + 1) {
    throw InvalidArgument("groups do not cut the rows of the matrix");
  }
}

template <Index I>
void cut_groups(Tiling<I>& tiling, std::span<const Offset> bytes_before,
                const TilingShape<I>& shape) {
  for (std::size_t group = 1; group < shape.group_rows.size(); ++group) {
    const RowRange<I> rows{shape.group_rows[group - 1], shape.group_rows[group]};
    const Array<I> cuts = cut_rows(bytes_before, rows, shape.tile_bytes, shape.alignment);
    for (std::size_t tile = 1; tile < cuts.size(); ++tile) {
      tiling.row_offsets.push_back(cuts[tile]);
      tiling.bytes.push_back(bytes_before[cuts[tile]] - bytes_before[cuts[tile - 1]]);
    }
    tiling.group_offsets.push_back(
        narrow<std::int32_t>(tiling.bytes.size(), "the number of tiles"));
  }
}

}  // namespace

template <Index I>
Tiling<I> make_tiling(const PatternView<I>& pattern, std::span<const Offset> bytes_before,
                      const TilingShape<I>& shape) {
  require_groups(pattern, bytes_before, shape.group_rows);
  Tiling<I> tiling;
  cut_groups(tiling, bytes_before, shape);
  TileLists inputs(tiling.tiles());
  parallel_dynamic(tiling.tiles(), 4, [&](Offset begin, Offset end) {
    for (auto tile = static_cast<std::int32_t>(begin); tile < end; ++tile) {
      find_tiles_read<I>(pattern, tiling.row_offsets, tile, inputs[tile]);
    }
  });
  add_readers(inputs);
  tiling.input_offsets.reserve(inputs.size() + 1);
  for (const auto& list : inputs) {
    tiling.inputs.insert(tiling.inputs.end(), list.begin(), list.end());
    tiling.input_offsets.push_back(static_cast<Offset>(tiling.inputs.size()));
  }
  return tiling;
}

#define STRATA_INSTANTIATE(I)                                                    \
  template Array<I> cut_rows(std::span<const Offset>, RowRange<I>, Offset, I);   \
  template Tiling<I> make_tiling(const PatternView<I>&, std::span<const Offset>, \
                                 const TilingShape<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
