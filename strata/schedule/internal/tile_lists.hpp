// Lists of tiles, one per tile, while the inputs of tiles are found.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/base/types.hpp"

namespace strata::detail {

using TileLists = std::vector<std::vector<std::int32_t>>;

inline void sort_unique(std::vector<std::int32_t>& list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// A tile that reads another becomes an input of it, and so does the tile itself.
inline void add_readers(TileLists& lists) {
  const auto tiles = static_cast<std::int32_t>(lists.size());
  TileLists readers(lists.size());
  for (std::int32_t tile = 0; tile < tiles; ++tile) {
    for (const std::int32_t input : lists[tile]) readers[input].push_back(tile);
  }
  parallel_dynamic(tiles, 64, [&](Offset begin, Offset end) {
    for (auto tile = static_cast<std::int32_t>(begin); tile < end; ++tile) {
      auto& list = lists[tile];
      list.insert(list.end(), readers[tile].begin(), readers[tile].end());
      list.push_back(tile);
      sort_unique(list);
    }
  });
}

}  // namespace strata::detail
