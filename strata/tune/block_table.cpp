#include "strata/tune/block_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/error.hpp"

namespace strata {

std::vector<BlockSize> all_block_sizes() {
  std::vector<BlockSize> sizes;
  for (const int rows : kBlockSizes) {
    for (const int cols : kBlockSizes) sizes.push_back({rows, cols});
  }
  return sizes;
}

std::size_t block_size_index(int size) {
  const auto found = std::ranges::find(kBlockSizes, size);
  if (found == kBlockSizes.end()) {
    throw InvalidArgument(fmt::format("blocks with {} rows or columns are not tuned over, only {}",
                                      size, fmt::join(kBlockSizes, ", ")));
  }
  return static_cast<std::size_t>(found - kBlockSizes.begin());
}

BlockSize BlockTable::place_of_smallest() const {
  return all_block_sizes()[std::ranges::min_element(numbers_) - numbers_.begin()];
}

BlockSize BlockTable::place_of_largest() const {
  return all_block_sizes()[std::ranges::max_element(numbers_) - numbers_.begin()];
}

}  // namespace strata
