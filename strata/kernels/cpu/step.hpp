// The CPU kernels: one step of a recurrence on a range of rows,
//
//   out = α (A − θI) x + β previous
//
// which is a product y = αAx + βy for θ = 0 and previous = out, and a step of the monomial, Newton
// or Chebyshev basis for other coefficients. A row's sum is formed in the same order whatever the
// range, so results do not depend on how rows are split among threads.
//
// Kernels run on the calling thread. They are called many times per sweep and trust their
// arguments: vectors as long as the matrix says, and ranges that begin and end on a multiple of
// `row_alignment(matrix)` or at the last row. A number of vectors that is not 1 … kMaxVectors
// throws InvalidArgument. There are kernels for several kinds of processors, and the best that this
// one can run are called (levels.hpp).
//
// Formats that sort rows compute slots: a range writes the rows that these slots hold. With the
// alignment, slots and rows are the same range. JDS sorts all rows, so that only the range of all
// is one of rows; it takes any range of slots, for threads to share a product (parts.hpp).
//
//   cpu::step(matrix, {}, {x.data(), nullptr, y.data(), 1}, matrix.all_rows());     // y = Ax
//   cpu::step(matrix, {.alpha = 2.0, .beta = -1.0},                                 // y = 2Ax − y
//             {x.data(), y.data(), y.data(), 1}, matrix.all_rows());
#pragma once

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "strata/base/types.hpp"
#include "strata/formats/bcsr.hpp"
#include "strata/formats/blocked_coo.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/dia.hpp"
#include "strata/formats/ell.hpp"
#include "strata/formats/jds.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/formats/sell.hpp"
#include "strata/kernels/cpu/step_arguments.hpp"

namespace strata::cpu {

template <class T>
using Given = std::type_identity_t<T>;

template <Value V, Index I>
void step(const Csr<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows);
template <Value V, Index I>
void step(const Sell<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows);
// The thread reads the part of the matrix that belongs to `upcoming` rows next. While it computes
// `rows`, which are in a cache, it may fetch that part too: done for one vector, full values and
// slices of at least kFewestLanesAhead rows. It changes no result.
template <Value V, Index I>
void step(const PackedSell<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows,
          Given<RowRange<I>> upcoming = {});
template <Value V, Index I>
void step(const Ell<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows);
template <Value V, Index I>
void step(const Dia<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows);
template <Value V, Index I>
void step(const Jds<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows);
template <Value V, Index I>
void step(const Bcsr<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows);
template <Value V, Index I>
void step(const BlockedCoo<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows);

// Ranges of rows begin and end on multiples of this.
template <Value V, Index I>
I row_alignment(const Csr<V, I>&) {
  return 1;
}
template <Value V, Index I>
I row_alignment(const BlockedCoo<V, I>&) {
  return 1;
}
template <Value V, Index I>
I row_alignment(const Ell<V, I>&) {
  return 1;
}
template <Value V, Index I>
I row_alignment(const Dia<V, I>&) {
  return 1;
}
template <Value V, Index I>
I row_alignment(const Bcsr<V, I>& matrix) {
  return matrix.block_rows();
}
// All rows are one window: what is not all of them is a range of slots (see above).
template <Value V, Index I>
I row_alignment(const Jds<V, I>& matrix) {
  return std::max<I>(matrix.rows(), 1);
}
// A sorted row may be in any slot of its window, so windows stay whole as well.
template <class Sliced>
auto row_alignment(const Sliced& matrix) -> decltype(matrix.slice_height()) {
  return matrix.sorted() ? std::lcm(matrix.slice_height(), matrix.sort_window())
                         : matrix.slice_height();
}

}  // namespace strata::cpu
