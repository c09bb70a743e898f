// How many threads share a row on a GPU, by numbers of the matrix alone, so that a row is added up
// in one order on all devices.
#pragma once

#include "strata/base/types.hpp"

namespace strata::gpu {

// The warps that cores are counted as. A constant and not the device's own number, so that a row is
// added up in one order on all devices: 128 multiprocessors of 128 cores.
inline constexpr Offset kCoreWarps = 512;

// A power of two of neighbouring threads per row, at most `most` (a power of two itself): as many
// as have a few gathers each in rows of mean length.
int row_threads(Offset entries, Offset rows, int most);

// How ELLPACK is shared out (Tsai, Cojean, Anzt: Sparse Linear Algebra on AMD and NVIDIA GPUs – The
// Race is on, 2020, Algorithms 4 and 5): a block of threads takes `groups` parts of each of its
// rows, and a row has `blocks_per_row` blocks.
struct EllGroups {
  int groups = 1;          // a power of two, at most kMostEllGroups
  int blocks_per_row = 1;  // more than 1 only with the most groups

  bool operator==(const EllGroups&) const = default;
};
// Blocks of 512 threads in groups of at least 32, which read neighbours in memory.
inline constexpr int kEllBlock = 512;
inline constexpr int kMostEllGroups = kEllBlock / 32;

// Algorithm 5. `warps`: those that a device has cores for.
EllGroups ell_groups(Offset width, Offset rows, Offset warps);

// Throws InvalidArgument unless there is a kernel for them.
void require_ell_groups(const EllGroups& groups);

}  // namespace strata::gpu
