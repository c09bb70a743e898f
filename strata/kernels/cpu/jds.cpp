// Jagged diagonals, with a lane per slot, in tiles of slots. Slots never become longer, so that
// lanes run together as far as the last of them has entries; what the others have beyond is added
// one by one, and no padding is needed. A range is one of slots.
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

// Adds those of these diagonals that all of the lanes' slots have an entry on; false if there are
// no others behind them.
template <int lanes, Value V, Index I>
STRATA_INLINE inline bool multiply_whole_diagonals(const JdsView<V, I>& matrix,
                                                   EntryRange diagonals, const V* x, Offset first,
                                                   Lanes<V, lanes>& sums) {
  for (Offset diagonal = diagonals.begin; diagonal < diagonals.end; ++diagonal) {
    if (diagonal == matrix.diagonals || slots_of(matrix, diagonal) < first + lanes) return false;
    const Offset k = matrix.diagonal_offsets[diagonal] + first;
    prefetch_ahead<lanes* static_cast<int>(sizeof(V))>(matrix.values + k);
    sums.multiply_add(matrix.values + k,
                      typename Lanes<V, lanes>::template Gathered<I>{x, matrix.columns + k});
  }
  return true;
}

// The first diagonal that not all slots before this one have an entry on.
template <Value V, Index I>
Offset whole_diagonals(const JdsView<V, I>& matrix, Offset slot) {
  Offset begin = 0;
  for (Offset end = matrix.diagonals; begin < end;) {
    const Offset middle = begin + (end - begin) / 2;
    if (slots_of(matrix, middle) < slot) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
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
  for_each_tile<2, V>(
      begin, end,
      [&]<int lanes>(EntryRange diagonals, Offset first, Lanes<V, lanes>& sums) STRATA_INLINE {
        return multiply_whole_diagonals(matrix, diagonals, vectors.x, first, sums);
      },
      [&]<int lanes>(Offset first, Lanes<V, lanes>& sums) STRATA_INLINE {
        alignas(V) std::byte numbers[lanes * sizeof(V)];
        V* results = reinterpret_cast<V*>(numbers);
        sums.store(results);
        multiply_other_diagonals(matrix, vectors.x, first, whole_diagonals(matrix, first + lanes),
                                 results);
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
