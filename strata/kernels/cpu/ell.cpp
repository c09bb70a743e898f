// ELLPACK as one slice of all rows, of which as many lanes as there are registers for run at a
// time. They stop after the longest of their rows. A row of several vectors is run by itself and
// needs no padding at all.
#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/internal/level_functions.hpp"
#include "strata/kernels/cpu/internal/slice.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

namespace {

// So many rows from the first on.
template <Value V, Index I>
Slice<V> slice_of(const EllView<V, I>& matrix, Offset first, Offset rows) {
  I width = 0;
  for (Offset row = first; row < first + rows; ++row) {
    if (matrix.row_lengths[row] > width) width = matrix.row_lengths[row];
  }
  return {width == 0 ? matrix.values : matrix.values + first, width, matrix.rows, first, rows};
}

template <Value V, Index I>
IndexColumns<I> columns_of(const EllView<V, I>& matrix, const Slice<V>& slice) {
  return {matrix.columns + (slice.values - matrix.values), slice.height};
}

template <Value V, Index I>
struct Rows {
  const EllView<V, I>& matrix;

  static bool sorted() { return false; }
  static Offset row_at(Offset slot) { return slot; }
  [[gnu::noinline]] void sum_entries(const Slice<V>& slice, Offset lane, const V* x, int count,
                                     Number<V>* sums) const {
    const Offset length = matrix.row_lengths[slice.first_slot + lane];
    sum_lane(
        slice, lane, columns_of(matrix, slice), x, count,
        [&](Offset entry) { return entry < length; }, sums);
  }
};

template <int count, Value V, Index I>
void step_row(const EllView<V, I>& matrix, const Step<V>& step, const StepVectors<V>& vectors,
              Offset row) {
  const Slice<V> slice = slice_of(matrix, row, 1);
  step_slice_rowwise<count>(step, vectors, slice, columns_of(matrix, slice), Rows<V, I>{matrix});
}

template <Value V, Index I>
void step_lanes(const EllView<V, I>& matrix, const Step<V>& step, const StepVectors<V>& vectors,
                Offset begin, Offset end) {
  for_each_tile<2, V>(
      begin, end,
      [&]<int lanes>(EntryRange entries, Offset first, Lanes<V, lanes>& sums) STRATA_INLINE {
        const Slice<V> slice = slice_of(matrix, first, lanes);
        return multiply_some(slice, columns_of(matrix, slice), entries, vectors.x, sums);
      },
      [&]<int lanes>(Offset first, Lanes<V, lanes>& sums) STRATA_INLINE {
        finish_slice(step, vectors, slice_of(matrix, first, lanes), Rows<V, I>{matrix}, sums);
      },
      [&](Offset row) { step_row<1>(matrix, step, vectors, row); });
}

}  // namespace

template <Value V, Index I>
void step_ell(const EllView<V, I>& matrix, const StepCoefficients<V>& coefficients,
              const StepVectors<V>& vectors, Offset begin, Offset end) {
  const Step<V> step = step_of(coefficients);
  if (vectors.count == 1) {
    step_lanes(matrix, step, vectors, begin, end);
    return;
  }
  with_vector_count<2>(vectors.count, [&]<int count>(Constant<count>) {
    for (Offset row = begin; row < end; ++row) step_row<count>(matrix, step, vectors, row);
  });
}

#define STRATA_INSTANTIATE(V, I)                                                                  \
  template void step_ell(const EllView<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&, \
                         Offset, Offset)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cpu::STRATA_CPU_LEVEL
