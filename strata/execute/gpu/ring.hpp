// The ring of tiles in shared memory of a Hopper GPU: how large it is and which warps work on it.
// Host and device; hopper_sweep.hpp explains it.
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/simt.hpp"

namespace strata::gpu::hopper {

// A barrier in shared memory.
inline constexpr std::uint32_t kBarrierBytes = 8;
// A barrier that completes when the block gives up, and whether a thread has arrived; padded.
inline constexpr std::uint32_t kWayOutBytes = 16;

struct Ring {
  int teams = 1;                  // of each power; tiles go round among them
  int team_warps = 8;             // slices of a tile go round among these
  int slots = 2;                  // a multiple of teams: a slot's tiles are always of one team
  std::uint32_t slot_bytes = 0;   // a multiple of 16
  std::uint32_t table_bytes = 0;  // of the values that codes name, those in shared memory; likewise

  STRATA_HOST_DEVICE int warps(int power) const {
    return 1 + 2 * (power - 1) + power * teams * team_warps;
  }
  STRATA_HOST_DEVICE int barriers(int power) const { return slots * 2 * power; }
  // The tiles, the barriers, what the watchers have read from their mailboxes, the barrier of the
  // watchdog, and the table. More than a block can have, and more than 32 bits can hold, where
  // tiles are too large.
  STRATA_HOST_DEVICE std::int64_t shared_bytes(int power, int mailboxes) const {
    return static_cast<std::int64_t>(slots) * slot_bytes +
           static_cast<std::int64_t>(barriers(power)) * kBarrierBytes +
           static_cast<std::int64_t>(power - 1) * mailboxes * 4 + kWayOutBytes + table_bytes;
  }
};

}  // namespace strata::gpu::hopper
