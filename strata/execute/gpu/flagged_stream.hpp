// FlaggedStream: a matrix as the sweep whose values are their own flags reads it, tile after tile
// (flagged_tile.hpp). Host code: nothing here needs a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/execute/gpu/flagged_tile.hpp"
#include "strata/execute/gpu/sweep_arguments.hpp"
#include "strata/formats/csr.hpp"

namespace strata::gpu {

enum class FlaggedLines { nine_lines, seven_points };

// How a matrix is cut into tiles.
struct FlaggedForm {
  FlaggedLines lines = FlaggedLines::nine_lines;
  bool has_lines = false;   // rows that fit become lines; all others are blocks
  int block = 1;            // D of the blocks: 1, 2 or 3
  int lanes = 1;            // of a block row; a power of two
  int rows = 0;             // block rows of a tile, at most; 0: one for all lanes of a warp
  std::int32_t stride = 0;  // between the segments of a tile

  bool operator==(const FlaggedForm&) const = default;
};

// What suits the matrix, by a sample of its rows. None where rows are so long, or their columns so
// far apart, that their x does not fit into the registers of a warp.
template <Value V>
std::optional<FlaggedForm> find_flagged_form(const Csr<V, std::int32_t>& matrix);

struct FlaggedSizes {
  FlaggedForm form;
  std::int32_t rows = 0;
  std::int32_t tiles = 0;
  Offset record_bytes = 0;
  Offset line_rows = 0;  // rows that are in lines
  Offset sectors = 0;    // of x that one power loads, for all tiles
  std::uint32_t largest_tile = 0;
  int most_sectors = 0;  // of a tile of blocks
  // How many tiles beyond a tile must have power 1 before that tile can have power k, at most, as
  // in schedule/worker_sweep.hpp.
  std::array<Offset, kMaxSweepPower + 1> dependency_distance{};
};

template <Value V>
struct FlaggedStream : FlaggedSizes {
  Array<std::byte> records;
  Array<FlaggedPlace> places;
  Array<std::uint64_t> presence;  // of the values of lines; empty: all are entries

  // workers: that share the tiles, tile t is worker t mod workers'. Throws InvalidArgument unless
  // the matrix is square, and if a row needs more sectors than a tile can have or has blocks that
  // are not full; OverflowError if it is too large.
  FlaggedStream(const Csr<V, std::int32_t>& matrix, const FlaggedForm& cut, int workers);
};

}  // namespace strata::gpu
