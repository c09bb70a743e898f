// BlockTable: one number for every block shape r × c that register-blocked kernels are tuned over.
// Fill, register profiles and what is chosen from them are tables of this kind.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace strata {

// The rows and the columns of a block that BCSR has unrolled kernels for.
inline constexpr std::array<int, 6> kBlockSizes{1, 2, 3, 4, 6, 8};
// A dense matrix of an order that this divides is cut into whole blocks of every shape.
inline constexpr int kCommonBlockMultiple = 24;

struct BlockSize {
  int rows = 1;  // r
  int cols = 1;  // c

  bool operator==(const BlockSize&) const = default;
};

// All pairs of kBlockSizes, by rows, then by columns.
std::vector<BlockSize> all_block_sizes();

// The place of a size in kBlockSizes. Throws InvalidArgument for a size that is not there.
std::size_t block_size_index(int size);

class BlockTable {
 public:
  double at(BlockSize block) const { return numbers_[place_of(block)]; }
  double& at(BlockSize block) { return numbers_[place_of(block)]; }

  // Where the smallest or largest number stands; of equal ones the first, which is the smallest
  // block by rows, then by columns.
  BlockSize place_of_smallest() const;
  BlockSize place_of_largest() const;

  bool operator==(const BlockTable&) const = default;

 private:
  static std::size_t place_of(BlockSize block) {
    return block_size_index(block.rows) * kBlockSizes.size() + block_size_index(block.cols);
  }

  std::array<double, kBlockSizes.size() * kBlockSizes.size()> numbers_{};
};

}  // namespace strata
