// How the entries of a COO matrix in row order are shared out to the warps of a GPU (Tsai, Cojean,
// Anzt: Sparse Linear Algebra on AMD and NVIDIA GPUs – The Race is on, 2020, Algorithm 1): every
// warp takes a chunk of equal size, whatever the rows. A row that goes on from a chunk to the next
// is cut there; its pieces are added in the order of the chunks.
#pragma once

#include <cstdint>
#include <span>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/coo.hpp"
#include "strata/kernels/gpu/group_rules.hpp"
#include "strata/kernels/gpu/vendor.hpp"

namespace strata::gpu {

// ω of the paper, section 3.1: by so many warps the processor cores are oversubscribed.
int coo_oversubscription(GpuVendor vendor, Offset nnz);

// The entries of a chunk: a multiple of the warp such that there are at most kCoreWarps · ω chunks.
// Throws InvalidArgument if ω is not positive.
Offset coo_chunk(Offset nnz, int oversubscription, int warp_size);

// A row with pieces in chunks first_chunk … last_chunk, at least two.
struct CutRow {
  std::int32_t row;
  std::int32_t first_chunk;
  std::int32_t last_chunk;
};

struct CooSplit {
  Offset chunk = 1;  // entries
  std::int32_t chunks = 0;
  Array<CutRow> cut_rows;  // in increasing order
  // Of each chunk, and one behind the last: which cut row goes on into it, or −1. None unless there
  // are cut rows, and kRowCounters of them at most.
  Array<std::int32_t> cut_into;
  Array<std::int32_t> empty_rows;  // in increasing order; they have to be written too
  std::int32_t most_pieces = 0;    // of a cut row
};

// Of entries in row order. Throws OverflowError if there are more than 2^31 chunks.
template <Index I>
CooSplit split_coo(std::span<const I> row_indices, I rows, Offset chunk);

template <Index I>
bool in_row_order(std::span<const I> row_indices);

// The same matrix in row order; entries of a row stay in the order they have.
template <Value V, Index I>
Coo<V, I> sorted_by_rows(const Coo<V, I>& matrix);

}  // namespace strata::gpu
