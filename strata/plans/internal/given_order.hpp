// What the given order of rows shows of a matrix without a search for levels.
#pragma once

#include <algorithm>
#include <span>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/fingerprint.hpp"
#include "strata/formats/pattern.hpp"
#include "strata/plans/internal/planning.hpp"
#include "strata/plans/plan_options.hpp"

namespace strata::detail {

struct PlaneLimits {
  Offset alignment = 1;  // planes begin at multiples
  Offset smallest = 1;   // rows of a plane, in multiples of the alignment
  Offset fewest = 2;     // planes
};

// A grid in its natural order has planes of equal size, which are levels. The distance between them
// is the middle of the farther half of the neighbours. The first row of every plane and the number
// of rows; nothing where that distance is too small or too large for planes.
template <Index I>
Array<I> find_planes(const PatternView<I>& pattern, const PlaneLimits& limits);

// Whether rows are the nodes of a grid in its natural order, the longest edge last: no levels are
// smaller than its planes then, and none need to be searched for. By a sample of the rows.
template <Index I>
bool planes_are_least(const PatternView<I>& pattern);

// The most data between a row and the first and the last that it reads, in the given order.
// before[row] is what all rows before it have.
struct Reach {
  Offset behind = 0;
  Offset ahead = 0;

  // How far a power stays behind the one before it.
  Offset distance() const { return std::max(behind, ahead); }
};
template <Index I>
Reach reach_of(const PatternView<I>& pattern, std::span<const Offset> before);

// What one look at all of a pattern says. Only a square one has a reach; it is that of entries.
struct KnownPattern {
  Fingerprint fingerprint;
  Reach reach;
};
template <Index I>
KnownPattern look_at(const PatternView<I>& pattern);

// Whether rows near each other read x far apart, so that most entries cost a cache line of x: by
// how many distinct ones a sample of blocks of rows touches. Another order may then pay by itself.
template <Index I>
bool reads_scattered(const PatternView<I>& pattern);

// Whether the tuning store, which knows no orders of rows, has the last word on products: not where
// rows move at no cost and that may be what pays.
template <class Matrix, Index I>
bool store_decides(const Matrix& matrix, const PowerOptions& options,
                   const PatternView<I>& pattern) {
  return options.vector_order != VectorOrder::plan || !may_reorder_products(matrix, options) ||
         !reads_scattered(pattern);
}

}  // namespace strata::detail
