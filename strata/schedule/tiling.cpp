#include "strata/schedule/tiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/schedule/internal/tile_lists.hpp"

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

using detail::add_readers;
using detail::sort_unique;
using detail::TileLists;

// Finds the tiles that rows load from. Keeps its memory from tile to tile.
template <Index I>
class TilesRead {
 public:
  TilesRead(const LoadedColumns<I>& loaded, std::span<const I> row_offsets)
      : loaded_(loaded), row_offsets_(row_offsets), seen_by_(row_offsets.size(), -1) {}

  // Increasing.
  std::vector<std::int32_t> of(std::int32_t tile) {
    std::vector<std::int32_t> found;
    std::int32_t last = tile;
    RowRange<I> rows_of_last{};
    loaded_.for_each({row_offsets_[tile], row_offsets_[tile + 1]}, [&](RowRange<I> columns) {
      // A tile is looked up once per run of columns inside it.
      for (I column = columns.begin; column < columns.end; column = rows_of_last.end) {
        if (rows_of_last.contains(column)) continue;
        last = tile_of(column, last);
        rows_of_last = {row_offsets_[last], row_offsets_[last + 1]};
        if (std::exchange(seen_by_[last], tile) != tile) found.push_back(last);
      }
    });
    std::ranges::sort(found);
    return found;
  }

 private:
  // Mostly near the last one: its surroundings are searched first, in growing steps.
  std::int32_t tile_of(I column, std::int32_t near) const {
    const auto tiles = static_cast<std::int32_t>(row_offsets_.size()) - 1;
    std::int32_t low = near;
    std::int32_t high = near + 1;
    for (std::int32_t step = 1; row_offsets_[low] > column; step *= 2) {
      high = low;
      low = std::max(low - step, 0);
    }
    for (std::int32_t step = 1; row_offsets_[high] <= column; step *= 2) {
      low = high;
      high = std::min(high + step, tiles);
    }
    const auto begin = row_offsets_.begin();
    return static_cast<std::int32_t>(std::upper_bound(begin + low, begin + high, column) - begin) -
           1;
  }

  LoadedColumns<I> loaded_;
  std::span<const I> row_offsets_;
  std::vector<std::int32_t> seen_by_;  // the last tile that touched this one
};

template <Index I>
void require_groups(const LoadedColumns<I>& loaded, std::span<const Offset> bytes_before,
                    std::span<const I> group_rows) {
  if (loaded.rows() != loaded.cols()) {
    throw InvalidArgument(
        fmt::format("a {} x {} matrix has no powers", loaded.rows(), loaded.cols()));
  }
  if (group_rows.empty() || group_rows.front() != 0 || group_rows.back() != loaded.rows() ||
      std::ranges::adjacent_find(group_rows, std::ranges::greater{}) != group_rows.end() ||
      bytes_before.size() != static_cast<std::size_t>(loaded.rows()) + 1) {
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
Tiling<I> make_tiling(const LoadedColumns<I>& loaded, std::span<const Offset> bytes_before,
                      const TilingShape<I>& shape) {
  require_groups(loaded, bytes_before, shape.group_rows);
  Tiling<I> tiling;
  cut_groups(tiling, bytes_before, shape);
  TileLists inputs(tiling.tiles());
  // Large pieces: each has its own record of the tiles it has met.
  const Offset piece = std::max<Offset>(tiling.tiles() / (8 * Offset{thread_count()}), 1);
  parallel_dynamic(tiling.tiles(), piece, [&](Offset begin, Offset end) {
    TilesRead<I> tiles_read(loaded, tiling.row_offsets);
    for (auto tile = static_cast<std::int32_t>(begin); tile < end; ++tile) {
      inputs[tile] = tiles_read.of(tile);
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

#define STRATA_INSTANTIATE(I)                                                      \
  template Array<I> cut_rows(std::span<const Offset>, RowRange<I>, Offset, I);     \
  template Tiling<I> make_tiling(const LoadedColumns<I>&, std::span<const Offset>, \
                                 const TilingShape<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
