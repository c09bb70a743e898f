// Tiling: the rows of an ordered matrix cut into groups of consecutive rows, and each group into
// tiles. A schedule knows no more of a matrix than which tiles a tile depends on:
//
//   inputs of tile t   the tiles whose rows t reads, those that read t, and t itself
//
// A tile reads all that a kernel loads for it, also where holes and padding make a kernel load what
// is then multiplied by zero: another worker may be writing there.
//
// Task (t, k), power k of tile t, may run as soon as all inputs of t have power k − 1. Readers are
// among the inputs so that power k may overwrite power k − 2 in place: all readers of the old
// numbers have then read them.
#pragma once

#include <cstdint>
#include <span>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/loaded_columns.hpp"

namespace strata {

template <Index I>
struct Tiling {
  Array<I> row_offsets = Array<I>(1, 0);              // tiles + 1; a tile may be empty
  Array<Offset> input_offsets = Array<Offset>(1, 0);  // tiles + 1
  Array<std::int32_t> inputs;                         // of tile t at input_offsets[t] …, increasing
  Array<Offset> bytes;  // of matrix data that one visit of the tile reads
  Array<std::int32_t> group_offsets = Array<std::int32_t>(1, 0);  // groups + 1, in tiles

  std::int32_t tiles() const { return static_cast<std::int32_t>(bytes.size()); }
  std::int32_t groups() const { return static_cast<std::int32_t>(group_offsets.size()) - 1; }
  RowRange<I> rows(std::int32_t tile) const { return {row_offsets[tile], row_offsets[tile + 1]}; }
  std::span<const std::int32_t> inputs_of(std::int32_t tile) const {
    return std::span(inputs).subspan(input_offsets[tile],
                                     input_offsets[tile + 1] - input_offsets[tile]);
  }
};

// Cuts the rows [begin, end) so that each piece has about `piece_bytes`, and returns where the
// pieces start, `end` included. `bytes_before` (rows of the matrix + 1 elements) says how many
// bytes of matrix data, padding included, lie before each row in the format that will run. Cuts
// fall on multiples of `alignment` rows, counted from the start of the matrix.
template <Index I>
Array<I> cut_rows(std::span<const Offset> bytes_before, RowRange<I> rows, Offset piece_bytes,
                  I alignment);

// Which rows go together: group_rows has groups + 1 elements, every group is cut into tiles of
// about tile_bytes at multiples of `alignment`.
template <Index I>
struct TilingShape {
  std::span<const I> group_rows;
  Offset tile_bytes = 0;
  I alignment = 1;
};

// Finds the tiles of a square matrix and their inputs. `loaded` describes the format that will run;
// a PatternView is enough where that has no padding.
template <Index I>
Tiling<I> make_tiling(const LoadedColumns<I>& loaded, std::span<const Offset> bytes_before,
                      const TilingShape<I>& shape);

}  // namespace strata
