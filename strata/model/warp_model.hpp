// What a GPU's warps make of a pattern: the divergence and the hit rate of the first-level cache
// that Reguly and Giles list for their CSR kernel (Efficient sparse matrix-vector multiplication on
// cache-based GPUs, InPar 2012, Table 2), computed from the pattern instead of read from a
// profiler.
//
// `coop` threads share a row, a block of `block_size` threads goes `repeat` times through
// block_size/coop rows (their Figure 3). Threads of a warp run in lockstep; a branch diverges when
// some of them take it and others do not.
#pragma once

#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"
#include "strata/model/balance.hpp"
#include "strata/model/cache_simulator.hpp"

namespace strata {

struct CoopKernel {
  int coop = 1;          // threads per row, a power of two up to the warp
  int repeat = 8;        // rows per group of cooperating threads
  int block_size = 128;  // threads of a block, whole warps
  int warp = 32;

  Offset rows_per_step() const { return block_size / coop; }
  Offset rows_per_block() const { return rows_per_step() * repeat; }
};

struct Divergence {
  // Branches that diverge. The loop over a row's entries has one test per trip and one more.
  // Besides them a step over the rows of a warp has 4 branches and a block 2, none of which diverge
  // but at the end of the matrix: that is what the 16 % of shallow_water1 in Table 2 say (4 entries
  // per row, coop = 8: one test of 2 + 4 + 2/8 diverges).
  double branch_share = 0;
  // Lanes that sit idle in the loop, of all that could work.
  double idle_share = 0;
};
// Both are 0 without rows. Throws InvalidArgument for an impossible kernel.
template <Index I>
Divergence predicted_divergence(const PatternView<I>& pattern, const CoopKernel& kernel);

// One of several multiprocessors and the blocks that it holds at a time. The defaults are those of
// the C2070 of Table 2: 48 KiB in lines of 128 bytes, 6-way.
struct Multiprocessor {
  CacheShape cache{.bytes = 48 * 1024, .ways = 6, .line_bytes = 128};
  int resident_blocks = 8;
  int count = 14;  // of the device; blocks are dealt out to them in turn
};

// The share of loads that the first-level cache of the first multiprocessor serves. Its warps take
// turns, one load each; a load asks once for every line that its threads touch. Stores pass the
// cache by. 0 without rows. Throws InvalidArgument as above, and as CacheSimulator does.
template <Index I>
double predicted_hit_rate(const PatternView<I>& pattern, const CoopKernel& kernel,
                          const Multiprocessor& multiprocessor = {},
                          const ElementSizes& sizes = {.value = 4, .index = 4});

}  // namespace strata
