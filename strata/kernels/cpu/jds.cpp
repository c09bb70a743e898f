// Jagged diagonals, with a lane per slot. Slots never become longer, so that lanes run together as
// far as the last of them reaches; what the others have beyond is added one by one, and no padding
// is needed. A range is one of slots.
#include <cstddef>

#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/internal/level_functions.hpp"
#include "strata/kernels/cpu/internal/slice.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

namespace {

// How many slots have an entry on the diagonal.
template <Value V, Index I>
Offset slots_of(const JdsView<V, I>& matrix, Offset diagonal) {
  return matrix.diagonal_offsets[diagonal + 1] - matrix.diagonal_offsets[diagonal];
}

template <int count, Value V, Index I>
void step_slot(const JdsView<V, I>& matrix, const Step<V>& step, const StepVectors<V>& vectors,
               Offset slot) {
  Number<V> sums[count] = {};
  for (Offset diagonal = 0; diagonal < matrix.diagonals && slot < slots_of(matrix, diagonal);
       ++diagonal) {
    const Offset k = matrix.diagonal_offsets[diagonal] + slot;
    const V* from = vectors.x + static_cast<Offset>(matrix.columns[k]) * count;
    const Number<V> value = loaded(matrix.values + k);
    for (int v = 0; v < count; ++v) sums[v] = multiply_add(value, loaded(from + v), sums[v]);
  }
  finish_row(step, vectors, static_cast<Offset>(matrix.row_of_slot[slot]) * count, sums);
}

// The sums of so many slots from the first on, which the last of them has entries for. Returns the
// first diagonal on which it has none.
template <int lanes, Value V, Index I>
STRATA_INLINE inline Offset multiply_whole_diagonals(const JdsView<V, I>& matrix, const V* x,
                                                     Offset first, Lanes<V, lanes>& sums) {
  Offset diagonal = 0;
  for (; diagonal < matrix.diagonals && first + lanes <= slots_of(matrix, diagonal); ++diagonal) {
    const Offset k = matrix.diagonal_offsets[diagonal] + first;
    prefetch_ahead<lanes* static_cast<int>(sizeof(V))>(matrix.values + k);
    sums.multiply_add(matrix.values + k,
                      typename Lanes<V, lanes>::template Gathered<I>{x, matrix.columns + k});
  }
  return diagonal;
}

template <Value V, Index I>
void multiply_other_diagonals(const JdsView<V, I>& matrix, const V* x, Offset first,
                              Offset diagonal, V* sums) {
  for (; diagonal < matrix.diagonals && first < slots_of(matrix, diagonal); ++diagonal) {
    const Offset slots = slots_of(matrix, diagonal) - first;
    for (Offset lane = 0; lane < slots; ++lane) {
      const Offset k = matrix.diagonal_offsets[diagonal] + first + lane;
      store(sums + lane, multiply_add(loaded(matrix.values + k), loaded(x + matrix.columns[k]),
                                      loaded(sums + lane)));
    }
  }
}

template <Value V, Index I>
void step_lanes(const JdsView<V, I>& matrix, const Step<V>& step, const StepVectors<V>& vectors,
                Offset begin, Offset end) {
  for_each_chunk<V>(
      begin, end,
      [&]<int lanes>(Constant<lanes>, Offset first) STRATA_INLINE {
        Lanes<V, lanes> sums;
        const Offset diagonal = multiply_whole_diagonals(matrix, vectors.x, first, sums);
        alignas(V) std::byte numbers[lanes * sizeof(V)];
        V* results = reinterpret_cast<V*>(numbers);
        sums.store(results);
        multiply_other_diagonals(matrix, vectors.x, first, diagonal, results);
        for (Offset lane = 0; lane < lanes; ++lane) {
          finish(step, vectors, matrix.row_of_slot[first + lane], loaded(results + lane));
        }
      },
      [&](Offset slot) { step_slot<1>(matrix, step, vectors, slot); });
}

}  // namespace

template <Value V, Index I>
void step_jds(const JdsView<V, I>& matrix, const StepCoefficients<V>& coefficients,
              const StepVectors<V>& vectors, Offset begin, Offset end) {
  const Step<V> step = step_of(coefficients);
  if (vectors.count == 1) {
    step_lanes(matrix, step, vectors, begin, end);
    return;
  }
  with_vector_count<2>(vectors.count, [&]<int count>(Constant<count>) {
    for (Offset slot = begin; slot < end; ++slot) step_slot<count>(matrix, step, vectors, slot);
  });
}

#define STRATA_INSTANTIATE(V, I)                                                                  \
  template void step_jds(const JdsView<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&, \
                         Offset, Offset)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cpu::STRATA_CPU_LEVEL
