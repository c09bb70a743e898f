// How many powers one sweep may have.
#pragma once

#include <algorithm>
#include <vector>

#include "strata/base/checked.hpp"

namespace strata::detail {

// As asked for; or all, a half or a quarter, which make windows as much smaller. 0: nothing asked.
inline std::vector<int> block_sizes(int power, int asked_for) {
  if (asked_for > 0) return {std::min(asked_for, power)};
  std::vector<int> sizes;
  for (const int parts : {1, 2, 4}) {
    const int size = ceil_div(power, parts);
    if (size >= 2 && (sizes.empty() || sizes.back() != size)) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace strata::detail
