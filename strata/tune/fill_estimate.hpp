// Fill of register blocks: how many values BCSR with blocks of r × c stores per nonzero, for all
// shapes that are tuned over, estimated from a sample of block rows. Counting exactly costs one
// pass over the matrix per r; a sample of a few thousand block rows is nearly free and says how far
// it may be off.
//
//   const auto A = strata::generate<double, std::int32_t>("stencil27:40x40x40");
//   const strata::FillEstimate fill = strata::estimate_fill(A.pattern());
//   fill.at({2, 2}).fill;                // 1.97: nearly as many zeros as nonzeros
//   fill.at({2, 2}).low, .high;          // between these with about 95 % confidence
//
// Fill as in Im, Yelick, Vuduc: SPARSITY, Int. J. High Perform. Comput. Appl. 18(1), 2004, who
// sample block rows as well. The sample here is stratified (Cochran: Sampling Techniques, 3rd
// edition, 1977, chapters 5 and 6): block rows are put into classes by the power of two of their
// number of entries, so that one full row among short ones is a class of its own and is always
// counted. Each class gets a share of the sample by its entries, spread evenly over the matrix, and
// has its own ratio of blocks to entries.
#pragma once

#include <array>
#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"
#include "strata/tune/block_table.hpp"

namespace strata {

struct FillOptions {
  // Block rows that are looked at, for each r, about; classes with few entries get a few more. As
  // many as there are, or more: everything is counted and the result is exact.
  Offset block_rows = 2000;
  std::uint64_t seed = 1;  // the same seed takes the same sample on every machine
};

// Stored values per nonzero; 1 for a matrix without entries, as Footprint::fill() says.
struct EstimatedFill {
  double fill = 1;
  double standard_error = 0;  // from the spread of the sample; 0 when everything was counted
  // An interval of about 95 % confidence: two standard errors, and what may hide behind a sample
  // whose block rows are all alike (of n equal ones up to 3/n of the rest can differ: Hanley,
  // Lippman-Hand, JAMA 249(13), 1983).
  double low = 1;
  double high = 1;

  bool exact() const { return low == high; }
  bool operator==(const EstimatedFill&) const = default;
};

class FillEstimate {
 public:
  EstimatedFill at(BlockSize block) const {
    return estimates_[block_size_index(block.rows)][block_size_index(block.cols)];
  }
  void set(BlockSize block, const EstimatedFill& fill) {
    estimates_[block_size_index(block.rows)][block_size_index(block.cols)] = fill;
  }
  // The estimates alone.
  BlockTable fill() const;

  bool operator==(const FillEstimate&) const = default;

 private:
  std::array<std::array<EstimatedFill, kBlockSizes.size()>, kBlockSizes.size()> estimates_{};
};

// Each sampled block row is read once for all c, and takes 72 bytes of memory meanwhile. Throws
// InvalidArgument unless at least one block row is to be sampled.
template <Index I>
FillEstimate estimate_fill(const PatternView<I>& pattern, const FillOptions& options = {});

}  // namespace strata
