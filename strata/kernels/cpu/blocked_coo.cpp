#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/internal/level_functions.hpp"
#include "strata/kernels/cpu/internal/numbers.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

namespace {

// The first entry from `begin` on whose row is not before `row`.
Offset first_from(const std::uint16_t* rows, Offset begin, Offset end, Offset row) {
  while (begin < end) {
    const Offset middle = begin + (end - begin) / 2;
    if (rows[middle] < row) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

// α · entries · x is added to out entry by entry: neighbours are mostly of different rows, and a
// sum in a register would cost a branch that nobody predicts.
template <int count, Value V>
void add_entries(const BlockedCooView<V>& matrix, const Step<V>& step, const V* x, V* out,
                 Offset begin, Offset end) {
  for (Offset k = begin; k < end; ++k) {
    const V* from = x + Offset{matrix.columns[k]} * count;
    V* to = out + Offset{matrix.rows[k]} * count;
    Number<V> value = loaded(matrix.values + k);
    if (step.scaled) value = product(step.alpha, value);
    for (int v = 0; v < count; ++v) {
      store(to + v, multiply_add(value, loaded(from + v), loaded(to + v)));
    }
  }
}

template <int count, Value V>
void add_blocks(const BlockedCooView<V>& matrix, const Step<V>& step, const StepVectors<V>& vectors,
                Offset begin, Offset end) {
  for (Offset down = begin / matrix.block_rows; down * matrix.block_rows < end; ++down) {
    const Offset first_row = down * matrix.block_rows;
    const Offset* offsets = matrix.block_offsets + down * matrix.blocks_across;
    V* out = vectors.out + first_row * count;
    for (Offset block = 0; block < matrix.blocks_across; ++block) {
      const V* x = vectors.x + block * matrix.block_cols * count;
      const Offset from =
          first_from(matrix.rows, offsets[block], offsets[block + 1], begin - first_row);
      const Offset to = first_from(matrix.rows, from, offsets[block + 1], end - first_row);
      add_entries<count>(matrix, step, x, out, from, to);
    }
  }
}

}  // namespace

template <Value V>
void step_blocked_coo(const BlockedCooView<V>& matrix, const StepCoefficients<V>& coefficients,
                      const StepVectors<V>& vectors, Offset begin, Offset end) {
  const Step<V> step = step_of(coefficients);
  for (Offset i = begin * vectors.count; i < end * vectors.count; ++i) {
    finish(step, vectors, i, Number<V>{});
  }
  with_vector_count<1>(vectors.count, [&]<int count>(Constant<count>) {
    add_blocks<count>(matrix, step, vectors, begin, end);
  });
}

#define STRATA_INSTANTIATE(V)                                                          \
  template void step_blocked_coo(const BlockedCooView<V>&, const StepCoefficients<V>&, \
                                 const StepVectors<V>&, Offset, Offset)
STRATA_INSTANTIATE(float);
STRATA_INSTANTIATE(double);
STRATA_INSTANTIATE(std::complex<float>);
STRATA_INSTANTIATE(std::complex<double>);

}  // namespace strata::cpu::STRATA_CPU_LEVEL
