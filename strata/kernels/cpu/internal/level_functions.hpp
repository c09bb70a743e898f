// The functions behind a level's table (kernel_table.hpp), each defined in the file of its format.
#pragma once

#include "strata/kernels/cpu/internal/kernel_table.hpp"
#include "strata/kernels/cpu/internal/numbers.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

template <Value V, Index I>
void step_csr(const CsrView<V, I>& matrix, const StepCoefficients<V>& coefficients,
              const StepVectors<V>& vectors, Offset begin, Offset end);
// The same with x gathered into registers, where the level has instructions for that.
template <Value V, Index I>
void step_csr_gathers(const CsrView<V, I>& matrix, const StepCoefficients<V>& coefficients,
                      const StepVectors<V>& vectors, Offset begin, Offset end);
// The same with one sum for every row that is not long.
template <Value V, Index I>
void step_csr_loop(const CsrView<V, I>& matrix, const StepCoefficients<V>& coefficients,
                   const StepVectors<V>& vectors, Offset begin, Offset end);
template <Value V, Index I>
void step_sell(const SellView<V, I>& matrix, const StepCoefficients<V>& coefficients,
               const StepVectors<V>& vectors, Offset begin, Offset end);
template <Value V>
void step_packed_sell(const PackedSellView<V>& matrix, const StepCoefficients<V>& coefficients,
                      const StepVectors<V>& vectors, Offset begin, Offset end);
template <Value V, Index I>
void step_ell(const EllView<V, I>& matrix, const StepCoefficients<V>& coefficients,
              const StepVectors<V>& vectors, Offset begin, Offset end);
template <Value V, Index I>
void step_dia(const DiaView<V, I>& matrix, const StepCoefficients<V>& coefficients,
              const StepVectors<V>& vectors, Offset begin, Offset end);
template <Value V, Index I>
void step_jds(const JdsView<V, I>& matrix, const StepCoefficients<V>& coefficients,
              const StepVectors<V>& vectors, Offset begin, Offset end);
template <Value V, Index I>
void step_bcsr(const BcsrView<V, I>& matrix, const StepCoefficients<V>& coefficients,
               const StepVectors<V>& vectors, Offset begin, Offset end);

template <Value V>
void step_blocked_coo(const BlockedCooView<V>& matrix, const StepCoefficients<V>& coefficients,
                      const StepVectors<V>& vectors, Offset begin, Offset end);

extern const StreamKernels stream_kernels;

// Those of a whole product that threads share, whose rows they do not.
template <Value V>
struct SharedKernelsOf {
  static const SharedKernels<V> table;
};
extern template struct SharedKernelsOf<float>;
extern template struct SharedKernelsOf<double>;
extern template struct SharedKernelsOf<std::complex<float>>;
extern template struct SharedKernelsOf<std::complex<double>>;

// Σ value · x over the entries [begin, end), in the order of a row that has no others.
template <Value V, Index I>
void sum_csr(const CsrView<V, I>& matrix, const V* x, int count, Offset begin, Offset end, V* sums);

}  // namespace strata::cpu::STRATA_CPU_LEVEL
