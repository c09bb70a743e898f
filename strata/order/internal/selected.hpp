// The numbers of a range for which something holds, found by all threads.
#pragma once

#include <algorithm>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/types.hpp"

namespace strata::detail {

// In increasing order.
template <Index I, class Chosen>
Array<I> selected(RowRange<I> range, const Chosen& chosen) {
  constexpr Offset kPiece = 16384;
  const Offset count = range.end - range.begin;
  const Offset pieces = ceil_div(count, kPiece);
  std::vector<std::vector<I>> found(pieces);
  std::vector<Offset> starts(pieces + 1, 0);
  parallel_dynamic(count, kPiece, [&](Offset begin, Offset end) {
    std::vector<I> here;
    for (I number = static_cast<I>(range.begin + begin); number < range.begin + end; ++number) {
      if (chosen(number)) here.push_back(number);
    }
    starts[begin / kPiece] = std::ssize(here);
    found[begin / kPiece] = std::move(here);
  });
  Array<I> result(exclusive_scan(starts));
  parallel_dynamic(pieces, 1, [&](Offset piece, Offset) {
    std::ranges::copy(found[piece], result.begin() + starts[piece]);
  });
  return result;
}

}  // namespace strata::detail
