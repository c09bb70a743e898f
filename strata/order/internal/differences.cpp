#include "strata/order/internal/differences.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/order/internal/breadth_first.hpp"

namespace strata::detail {

namespace {

// Slices that are looked at, of so many vertices each.
constexpr Offset kSlice = 32;
constexpr Offset kSlices = 256;

// How many distinct numbers there are among some, for the price of a look-up each.
template <Index I>
class DistinctCounter {
 public:
  // Of as many numbers as this at most.
  void start(std::size_t numbers) {
    const std::size_t size = std::bit_ceil(std::max<std::size_t>(2 * numbers, 16));
    table_.assign(size, kNone);
    distinct_ = 0;
  }
  void add(I number) {
    const auto hash = static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15u;
    const std::size_t mask = table_.size() - 1;
    for (std::size_t place = (hash >> 32) & mask;; place = (place + 1) & mask) {
      if (table_[place] == number) return;
      if (table_[place] == kNone) {
        table_[place] = number;
        ++distinct_;
        return;
      }
    }
  }
  Offset distinct() const { return distinct_; }

 private:
  // No difference of two places.
  static constexpr I kNone = std::numeric_limits<I>::min();

  std::vector<I> table_;
  Offset distinct_ = 0;
};

}  // namespace

template <Index I>
double differences_in(const PatternView<I>& graph, RowRange<I> component, const Array<I>& order,
                      const Array<I>& place) {
  const auto vertices = static_cast<Offset>(order.size());
  const Offset slices = ceil_div<Offset>(vertices, kSlice);
  const Offset stride = std::max<Offset>(slices / kSlices, 1);
  struct Found {
    Offset distinct = 0;
    double mean_entries = 0;
  };
  std::vector<Found> of_slices(ceil_div(slices, stride));
  constexpr Offset kSlicesAtATime = 8;
  parallel_dynamic(std::ssize(of_slices), kSlicesAtATime, [&](Offset first, Offset last) {
    DistinctCounter<I> differences;
    for (Offset slice = first; slice < last; ++slice) {
      const Offset begin = slice * stride * kSlice;
      const Offset end = std::min<Offset>(begin + kSlice, vertices);
      Offset entries = 0;
      for (Offset i = begin; i < end; ++i) entries += graph.row_length(order[i]);
      differences.start(static_cast<std::size_t>(entries));
      for (Offset i = begin; i < end; ++i) {
        prefetch_rows<I>(graph, order, i, end);
        for (const I neighbour : graph.columns_of(order[i])) {
          differences.add(static_cast<I>(place[neighbour - component.begin] - i));
        }
      }
      of_slices[slice] = {differences.distinct(),
                          static_cast<double>(entries) / static_cast<double>(end - begin)};
    }
  });
  double distinct = 0;
  double mean_entries = 0;
  for (const Found& found : of_slices) {
    distinct += static_cast<double>(found.distinct);
    mean_entries += found.mean_entries;
  }
  return distinct / std::max(mean_entries, 1.0);
}
template <Index I>
double differences_in(const PatternView<I>& graph, RowRange<I> component, const Array<I>& order) {
  Array<I> place(order.size());
  parallel_for(static_cast<Offset>(order.size()),
               [&](Offset i) { place[order[i] - component.begin] = static_cast<I>(i); });
  return differences_in(graph, component, order, place);
}

#define STRATA_INSTANTIATE(I)                                                         \
  template double differences_in(const PatternView<I>&, RowRange<I>, const Array<I>&, \
                                 const Array<I>&);                                    \
  template double differences_in(const PatternView<I>&, RowRange<I>, const Array<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
