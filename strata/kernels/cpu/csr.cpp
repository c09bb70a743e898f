#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/internal/lanes.hpp"
#include "strata/kernels/cpu/internal/level_functions.hpp"
#include "strata/kernels/cpu/internal/numbers.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

namespace {

// Independent sums hide the latency of an addition.
template <Value V, Index I>
Number<V> row_times(const I* columns, const V* values, Offset length, const V* x) {
  constexpr Offset kSums = 4;
  Number<V> sums[kSums] = {};
  Offset k = 0;
  for (; k + kSums <= length; k += kSums) {
    for (Offset s = 0; s < kSums; ++s) {
      sums[s] = multiply_add(loaded(values + k + s), loaded(x + columns[k + s]), sums[s]);
    }
  }
  // Written out, for most rows of some matrices have no other entries.
  const auto add_last = [&](Offset last) {
    sums[0] = multiply_add(loaded(values + last), loaded(x + columns[last]), sums[0]);
  };
  if (k < length) add_last(k);
  if (k + 1 < length) add_last(k + 1);
  if (k + 2 < length) add_last(k + 2);
  return added(added(sums[0], sums[1]), added(sums[2], sums[3]));
}

// One sum: the additions of a row wait for each other, but those of the next rows do not wait for
// them. Nothing is to be decided but where the row ends, which is worth more where lengths of short
// rows follow no pattern.
template <Value V, Index I>
Number<V> row_times_one_by_one(const I* columns, const V* values, Offset length, const V* x) {
  constexpr Offset kShort = 32;
  if (length >= kShort) return row_times(columns, values, length, x);
  Number<V> sum{};
  for (Offset k = 0; k < length; ++k) {
    sum = multiply_add(loaded(values + k), loaded(x + columns[k]), sum);
  }
  return sum;
}

// As many sums at every level, whose results have the same bits; what is left as above.
template <Value V, Index I>
Number<V> row_times_gathered(const I* columns, const V* values, Offset length, const V* x) {
  constexpr int kSums = 8;
  if (length < kSums) return row_times(columns, values, length, x);
  Lanes<V, kSums> sums;
  Offset k = 0;
  for (; k + kSums <= length; k += kSums) {
    sums.multiply_add(values + k, typename Lanes<V, kSums>::template Gathered<I>{x, columns + k});
  }
  alignas(64) std::byte numbers[kSums * sizeof(V)];
  sums.store(reinterpret_cast<V*>(numbers));
  Number<V> parts[kSums];
  for (int s = 0; s < kSums; ++s) parts[s] = loaded(reinterpret_cast<const V*>(numbers) + s);
  for (int half = kSums / 2; half > 0; half /= 2) {
    for (int s = 0; s < half; ++s) parts[s] = added(parts[s], parts[s + half]);
  }
  return added(parts[0], row_times(columns + k, values + k, length - k, x));
}

template <int count, Value V, Index I>
void row_times_vectors(const I* columns, const V* values, Offset length, const V* x,
                       Number<V> (&sums)[count]) {
  for (Offset k = 0; k < length; ++k) {
    const V* from = x + static_cast<Offset>(columns[k]) * count;
    const Number<V> value = loaded(values + k);
    for (int v = 0; v < count; ++v) sums[v] = multiply_add(value, loaded(from + v), sums[v]);
  }
}

enum class Way { four_sums, one_sum, gathers };

template <int count, Way way, class AnyStep, Value V, Index I>
void step_rows(const CsrView<V, I>& matrix, const AnyStep& step, const StepVectors<V>& vectors,
               Offset begin, Offset end) {
  for (Offset row = begin; row < end; ++row) {
    const Offset first = matrix.row_offsets[row];
    const Offset length = matrix.row_offsets[row + 1] - first;
    const I* columns = matrix.columns + first;
    const V* values = matrix.values + first;
    if constexpr (count == 1) {
      if constexpr (way == Way::gathers) {
        finish(step, vectors, row, row_times_gathered(columns, values, length, vectors.x));
      } else if constexpr (way == Way::one_sum) {
        finish(step, vectors, row, row_times_one_by_one(columns, values, length, vectors.x));
      } else {
        finish(step, vectors, row, row_times(columns, values, length, vectors.x));
      }
    } else {
      Number<V> sums[count] = {};
      row_times_vectors(columns, values, length, vectors.x, sums);
      finish_row(step, vectors, row * count, sums);
    }
  }
}

template <Way way, Value V, Index I>
void step_any(const CsrView<V, I>& matrix, const StepCoefficients<V>& coefficients,
              const StepVectors<V>& vectors, Offset begin, Offset end) {
  const Step<V> step = step_of(coefficients);
  if (vectors.count == 1) {
    with_step(step,
              [&](const auto& known) { step_rows<1, way>(matrix, known, vectors, begin, end); });
    return;
  }
  // The elements of a row of vectors lie side by side, each with a sum of its own.
  with_vector_count<2>(vectors.count, [&]<int count>(Constant<count>) {
    step_rows<count, Way::four_sums>(matrix, step, vectors, begin, end);
  });
}

}  // namespace

template <Value V, Index I>
void step_csr(const CsrView<V, I>& matrix, const StepCoefficients<V>& coefficients,
              const StepVectors<V>& vectors, Offset begin, Offset end) {
  step_any<Way::four_sums>(matrix, coefficients, vectors, begin, end);
}

template <Value V, Index I>
void step_csr_gathers(const CsrView<V, I>& matrix, const StepCoefficients<V>& coefficients,
                      const StepVectors<V>& vectors, Offset begin, Offset end) {
  step_any<Way::gathers>(matrix, coefficients, vectors, begin, end);
}

template <Value V, Index I>
void step_csr_loop(const CsrView<V, I>& matrix, const StepCoefficients<V>& coefficients,
                   const StepVectors<V>& vectors, Offset begin, Offset end) {
  step_any<Way::one_sum>(matrix, coefficients, vectors, begin, end);
}

template <Value V, Index I>
void sum_csr(const CsrView<V, I>& matrix, const V* x, int count, Offset begin, Offset end,
             V* sums) {
  const I* columns = matrix.columns + begin;
  const V* values = matrix.values + begin;
  with_vector_count<1>(count, [&]<int number>(Constant<number>) {
    if constexpr (number == 1) {
      store(sums, row_times(columns, values, end - begin, x));
    } else {
      Number<V> results[number] = {};
      row_times_vectors(columns, values, end - begin, x, results);
      for (int v = 0; v < number; ++v) store(sums + v, results[v]);
    }
  });
}

#define STRATA_INSTANTIATE(V, I)                                                                  \
  template void step_csr(const CsrView<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&, \
                         Offset, Offset);                                                         \
  template void step_csr_gathers(const CsrView<V, I>&, const StepCoefficients<V>&,                \
                                 const StepVectors<V>&, Offset, Offset);                          \
  template void step_csr_loop(const CsrView<V, I>&, const StepCoefficients<V>&,                   \
                              const StepVectors<V>&, Offset, Offset);                             \
  template void sum_csr(const CsrView<V, I>&, const V*, int, Offset, Offset, V*)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cpu::STRATA_CPU_LEVEL
