// RowLimits: up to which power each row of a plan is computed. Rows that a process has only because
// its own need them, ghosts, are needed up to the fewer powers the further away they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/order/padded_order.hpp"

namespace strata::detail {

template <Index I>
class RowLimits {
 public:
  // No limits: all rows at all powers.
  RowLimits() = default;

  // Row r is computed up to power last_powers[r]; what shares `alignment` positions with it, too.
  // None: no limits.
  RowLimits(std::span<const std::int32_t> last_powers, const PaddedOrder<I>& order, I alignment) {
    if (last_powers.empty()) return;
    const I positions = order.padded_rows();
    for (I begin = 0; begin < positions;) {
      const I end = static_cast<I>(std::min<Offset>(Offset{begin} + alignment, positions));
      std::int32_t last = 0;
      for (I position = begin; position < end; ++position) {
        const I row = order.row_at(position);
        if (row != PaddedOrder<I>::kEmpty) last = std::max(last, last_powers[row]);
      }
      if (runs_.empty() || runs_.back().last != last) runs_.push_back({begin, last});
      begin = end;
    }
  }

  bool any() const { return !runs_.empty(); }

  // visit(part) for the parts of the rows that have this power.
  template <class Visit>
  void visit(RowRange<I> rows, int power, const Visit& visit_part) const {
    if (runs_.empty()) {
      visit_part(rows);
      return;
    }
    auto run = std::ranges::upper_bound(runs_, rows.begin, {}, &Run::begin) - 1;
    for (I begin = rows.begin; begin < rows.end;) {
      const bool computed = run->last >= power;
      while (run != runs_.end() && (run->last >= power) == computed && run->begin < rows.end) ++run;
      const I end = run == runs_.end() ? rows.end : std::min(run->begin, rows.end);
      if (computed) visit_part(RowRange<I>{begin, end});
      begin = end;
    }
  }

 private:
  struct Run {
    I begin;
    std::int32_t last;
  };
  std::vector<Run> runs_;  // from position 0 on
};

}  // namespace strata::detail
