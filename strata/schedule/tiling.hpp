// Tiling: the rows of an ordered matrix cut into tiles of consecutive rows, and for each tile the
// tiles it reads. Task (t, k), power k of tile t, may run as soon as all inputs of t have power
// k − 1: that is all a schedule has to know about a matrix.
#pragma once

#include <cstdint>
#include <span>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

template <Index I>
struct Tiling {
  Array<I> row_offsets = Array<I>(1, 0);              // tiles + 1; a tile may be empty
  Array<Offset> input_offsets = Array<Offset>(1, 0);  // tiles + 1
  Array<std::int32_t> inputs;  // of tile t at input_offsets[t] …: increasing, t itself among them
  Array<Offset> bytes;         // of matrix data that one visit of the tile reads

  std::int32_t tiles() const { return static_cast<std::int32_t>(bytes.size()); }
  RowRange<I> rows(std::int32_t tile) const { return {row_offsets[tile], row_offsets[tile + 1]}; }
  std::span<const std::int32_t> inputs_of(std::int32_t tile) const {
    return std::span(inputs).subspan(input_offsets[tile],
                                     input_offsets[tile + 1] - input_offsets[tile]);
  }
};

// Cuts rows so that each tile has about `tile_bytes`. `bytes_before` (rows + 1 elements) says how
// many bytes of matrix data, padding included, lie before each row in the format that will run.
// Cuts fall on multiples of `alignment` rows, counted from the start of the matrix.
template <Index I>
Array<I> cut_rows(std::span<const Offset> bytes_before, Offset tile_bytes, I alignment);

// Finds the inputs of the tiles of a square pattern.
template <Index I>
Tiling<I> make_tiling(const PatternView<I>& pattern, Array<I> row_offsets,
                      std::span<const Offset> bytes_before);

}  // namespace strata
