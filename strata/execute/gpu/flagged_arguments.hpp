// The arguments of the sweep whose values are their own flags (internal/flagged_block.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "strata/execute/gpu/flagged_tile.hpp"
#include "strata/execute/gpu/sweep_arguments.hpp"

namespace strata::gpu {

// The ring of tiles in shared memory and the warps that work on it.
struct FlaggedRing {
  int slots = 1;                 // a multiple of the warps: a slot's tiles are of one warp
  int warps = 1;                 // of each power
  int lanes = 1;                 // of a block row; a power of two
  int buffers = 1;               // for x of blocks: one for each warp, or shared
  std::uint32_t slot_bytes = 0;  // multiples of 16
  std::uint32_t buffer_bytes = 0;

  // One warp loads tiles, one clears vectors.
  STRATA_HOST_DEVICE int all_warps(int power) const { return 2 + power * warps; }
  // Tiles and x of blocks, flags to clear elements with, two barriers for each slot, a lock for
  // each buffer, and three words that all warps share.
  STRATA_HOST_DEVICE std::int64_t shared_bytes() const {
    return static_cast<std::int64_t>(slots) * (slot_bytes + 16) +
           static_cast<std::int64_t>(buffers) * (buffer_bytes + 4) + kFlagBytes + 12;
  }
};

template <class T>
struct FlaggedArguments {
  const std::byte* records = nullptr;
  const FlaggedPlace* places = nullptr;
  std::int32_t tiles = 0;
  std::int32_t rows = 0;
  std::int32_t stride = 0;                  // between the segments of a tile
  const std::uint64_t* presence = nullptr;  // of the values of lines; null: all are entries
  bool aligned = false;                     // all vectors begin at multiples of 16 bytes

  std::uint32_t* cleared = nullptr;  // tiles that each worker has cleared, and
  std::uint32_t* ended = nullptr;    // how many workers have ended: both 0 between launches
  int ahead = 1;                     // so many tiles of a worker are cleared before their turn
  SweepControl* control = nullptr;
  std::uint64_t timeout_ns = 0;
  std::uint32_t stress_seed = 0;  // for tests, see SweepArguments

  // As in SweepArguments; y_0 … y_p share nothing.
  int power = 1;
  T* vectors[kMaxSweepPower + 1] = {};
  const T* before = nullptr;
  T alpha[kMaxSweepPower] = {};
  T shift[kMaxSweepPower] = {};
  T beta[kMaxSweepPower] = {};
  T* sum = nullptr;
  T weight[kMaxSweepPower] = {};
  T start{};
  bool starts = false;
};

}  // namespace strata::gpu
