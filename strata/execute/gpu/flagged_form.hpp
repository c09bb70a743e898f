// FlaggedForm: how a matrix is cut into tiles for the sweep whose values are their own flags
// (flagged_tile.hpp). Host code: nothing here needs a GPU.
#pragma once

#include <cstdint>
#include <optional>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"

namespace strata::gpu {

// Of flagged_tile.hpp. Stencils of points have tiles of several segments, a stride apart.
enum class FlaggedLines { nine_lines, seven_points, five_points };

struct FlaggedForm {
  FlaggedLines lines = FlaggedLines::nine_lines;
  bool has_lines = false;   // rows that fit become lines; all others are blocks
  int segments = 0;         // of tiles of diagonals, which rows that fit become; 0: there are none
  int block = 1;            // D of the blocks: 1, 2 or 3
  int lanes = 1;            // of a block row; a power of two
  int rows = 0;             // block rows of a tile, at most; 0: one for all lanes of a warp
  std::int32_t stride = 0;  // between the segments of a tile
  std::int32_t period = 0;  // of seven-point stencils: tiles of a plane; 0: another number in each
  bool mirrors = true;      // values of points that are mirrored are stored once

  bool has_points() const { return has_lines && lines != FlaggedLines::nine_lines; }
  bool operator==(const FlaggedForm&) const = default;
};

// What suits the matrix, by a sample of its rows. None where rows are so long, or their columns so
// far apart, that their x does not fit into the registers of a warp.
template <Value V>
std::optional<FlaggedForm> find_flagged_form(const Csr<V, std::int32_t>& matrix);

// How many workers should share such tiles, at most one for each multiprocessor of a device: all,
// or a few less if they go round a plane in a whole number of turns.
int flagged_workers(const FlaggedForm& form, int multiprocessors);

}  // namespace strata::gpu
