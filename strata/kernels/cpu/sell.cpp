#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/internal/level_functions.hpp"
#include "strata/kernels/cpu/internal/slice.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

namespace {

template <Value V, Index I>
IndexColumns<I> columns_of(const SellView<V, I>& matrix, const Slice<V>& slice) {
  return {matrix.columns + (slice.values - matrix.values), slice.height};
}

template <Value V, Index I>
struct Rows {
  const SellView<V, I>& matrix;

  bool sorted() const { return matrix.row_of_slot != nullptr; }
  Offset row_at(Offset slot) const { return sorted() ? matrix.row_of_slot[slot] : slot; }
  [[gnu::noinline]] void sum_entries(const Slice<V>& slice, Offset lane, const V* x, int count,
                                     Number<V>* sums) const {
    const Offset length = matrix.row_lengths[slice.first_slot + lane];
    sum_lane(
        slice, lane, columns_of(matrix, slice), x, count,
        [&](Offset entry) { return entry < length; }, sums);
  }
};

// body(slice) for each slice of the rows.
template <Value V, Index I, class Body>
[[gnu::always_inline]] inline void for_each_slice(const SellView<V, I>& matrix, Offset height,
                                                  Offset begin, Offset end, const Body& body) {
  for (Offset first = begin; first < end; first += height) {
    const Offset* offsets = matrix.slice_offsets + first / height;
    const Offset left = matrix.rows - first;
    body(Slice<V>{matrix.values + offsets[0], (offsets[1] - offsets[0]) / height, height, first,
                  left < height ? left : height});
  }
}

template <int height, Value V, Index I>
void step_lanes(const SellView<V, I>& matrix, const Step<V>& step, const StepVectors<V>& vectors,
                Offset begin, Offset end) {
  for_each_slice(matrix, height, begin, end, [&](const Slice<V>& slice) STRATA_INLINE {
    Lanes<V, height> sums;
    multiply(slice, columns_of(matrix, slice), vectors.x, sums);
    finish_slice(step, vectors, slice, Rows<V, I>{matrix}, sums);
  });
}

template <int count, Value V, Index I>
void step_rowwise(const SellView<V, I>& matrix, const Step<V>& step, const StepVectors<V>& vectors,
                  Offset begin, Offset end) {
  for_each_slice(matrix, matrix.slice_height, begin, end, [&](const Slice<V>& slice) {
    step_slice_rowwise<count>(step, vectors, slice, columns_of(matrix, slice), Rows<V, I>{matrix});
  });
}

}  // namespace

template <Value V, Index I>
void step_sell(const SellView<V, I>& matrix, const StepCoefficients<V>& coefficients,
               const StepVectors<V>& vectors, Offset begin, Offset end) {
  const Step<V> step = step_of(coefficients);
  const auto by_lanes = [&]<int height>(Constant<height>) {
    step_lanes<height>(matrix, step, vectors, begin, end);
  };
  if (vectors.count == 1 && with_slice_height(matrix.slice_height, by_lanes)) return;
  with_vector_count<1>(vectors.count, [&]<int count>(Constant<count>) {
    step_rowwise<count>(matrix, step, vectors, begin, end);
  });
}

#define STRATA_INSTANTIATE(V, I)                                             \
  template void step_sell(const SellView<V, I>&, const StepCoefficients<V>&, \
                          const StepVectors<V>&, Offset, Offset)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cpu::STRATA_CPU_LEVEL
