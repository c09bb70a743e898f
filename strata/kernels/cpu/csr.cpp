#include "strata/formats/csr.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/arithmetic.hpp"
#include "strata/kernels/cpu/step.hpp"

namespace strata::cpu {

namespace {

// Independent sums hide the latency of an addition.
template <Value V, Index I>
V row_times(const I* columns, const V* values, Offset length, const V* x) {
  constexpr Offset kSums = 4;
  V sums[kSums] = {};
  Offset k = 0;
  for (; k + kSums <= length; k += kSums) {
    for (Offset s = 0; s < kSums; ++s) {
      sums[s] = multiply_add(values[k + s], x[columns[k + s]], sums[s]);
    }
  }
  for (; k < length; ++k) sums[0] = multiply_add(values[k], x[columns[k]], sums[0]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <int count, Value V, Index I>
void row_times_vectors(const I* columns, const V* values, Offset length, const V* x,
                       V (&sums)[count]) {
  for (Offset k = 0; k < length; ++k) {
    const V* from = x + static_cast<Offset>(columns[k]) * count;
    for (int v = 0; v < count; ++v) sums[v] = multiply_add(values[k], from[v], sums[v]);
  }
}

}  // namespace

template <Value V, Index I>
void step(const Csr<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows) {
  const Offset* offsets = matrix.row_offsets().data();
  const I* columns = matrix.columns().data();
  const V* values = matrix.values().data();
  with_vector_count(vectors.count, [&]<int count>(std::integral_constant<int, count>) {
    for (I row = rows.begin; row < rows.end; ++row) {
      const Offset first = offsets[row];
      const Offset length = offsets[row + 1] - first;
      if constexpr (count == 1) {
        finish(coefficients, vectors, row,
               row_times(columns + first, values + first, length, vectors.x));
      } else {
        V sums[count] = {};
        row_times_vectors(columns + first, values + first, length, vectors.x, sums);
        for (int v = 0; v < count; ++v) {
          finish(coefficients, vectors, static_cast<Offset>(row) * count + v, sums[v]);
        }
      }
    }
  });
}

#define STRATA_INSTANTIATE(V, I)                                                          \
  template void step(const Csr<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&, \
                     RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cpu
