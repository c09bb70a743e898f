// Which numbers occur: used columns, occupied diagonals. A file of a few bytes may claim any number
// of columns, so the memory follows the entries and not the range.
#pragma once

#include <algorithm>
#include <atomic>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"

namespace strata {

// visit(take) calls take(k, number) once for every k in [0, count), from several threads if it
// likes, each number in [0, range). Then report(number) is called for every number that occurred,
// in increasing order. Needs at most 8 bytes per k.
template <class Visit, class Report>
void for_each_distinct(Offset count, Offset range, Visit&& visit, Report&& report) {
  if (range / static_cast<Offset>(sizeof(Offset)) <= count) {
    Array<unsigned char> used(range, 0);
    visit([&](Offset, Offset number) {
      std::atomic_ref(used[number]).store(1, std::memory_order_relaxed);
    });
    for (Offset number = 0; number < range; ++number) {
      if (used[number] != 0) report(number);
    }
  } else {
    Array<Offset> numbers(count);
    visit([&](Offset k, Offset number) { numbers[k] = number; });
    std::ranges::sort(numbers);
    const auto repeated = std::ranges::unique(numbers);
    std::for_each(numbers.begin(), repeated.begin(), report);
  }
}

}  // namespace strata
