// The kernels of the level that runs (levels.hpp) for a type of values, and matrices as they see
// them.
#pragma once

#include "strata/base/error.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/kernels/cpu/internal/kernel_table.hpp"

namespace strata::cpu {

inline void require_vector_count(int count) {
  if (count < 1 || count > kMaxVectors) {
    throw InvalidArgument("kernels take 1 to 8 vectors at a time");
  }
}

template <Value V>
const StepKernels<V>& kernels_for() {
  const KernelTable& table = kernels();
  if constexpr (std::is_same_v<V, float>) {
    return table.floats;
  } else if constexpr (std::is_same_v<V, double>) {
    return table.doubles;
  } else if constexpr (std::is_same_v<V, std::complex<float>>) {
    return table.complex_floats;
  } else {
    return table.complex_doubles;
  }
}

template <Value V>
const SharedKernels<V>& shared_kernels_for() {
  return *kernels_for<V>().shared;
}

template <Value V, Index I>
CsrView<V, I> view_of(const Csr<V, I>& matrix) {
  return {matrix.row_offsets().data(), matrix.columns().data(), matrix.values().data()};
}

}  // namespace strata::cpu
