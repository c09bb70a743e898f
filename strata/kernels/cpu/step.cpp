// Hands a step to the kernels of the level that runs (levels.hpp), which see the matrix as pointers
// and sizes.
#include "strata/kernels/cpu/step.hpp"

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/internal/kernel_table.hpp"

namespace strata::cpu {

namespace {

void require_vector_count(int count) {
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

template <class T>
const T* data_or_null(std::span<const T> array) {
  return array.empty() ? nullptr : array.data();
}

template <Index I>
RowOfSlot row_of_slot_view(std::span<const I> row_of_slot) {
  if constexpr (sizeof(I) == 4) {
    return {data_or_null(row_of_slot), nullptr};
  } else {
    return {nullptr, data_or_null(row_of_slot)};
  }
}

}  // namespace

template <Value V, Index I>
void step(const Csr<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows) {
  require_vector_count(vectors.count);
  const CsrView<V, I> view{matrix.row_offsets().data(), matrix.columns().data(),
                           matrix.values().data()};
  const StepKernels<V>& run = kernels_for<V>();
  if constexpr (sizeof(I) == 4) {
    run.csr32(view, coefficients, vectors, rows.begin, rows.end);
  } else {
    run.csr64(view, coefficients, vectors, rows.begin, rows.end);
  }
}

template <Value V, Index I>
void step(const Sell<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows) {
  require_vector_count(vectors.count);
  const SellView<V, I> view{matrix.slice_offsets().data(),
                            matrix.columns().data(),
                            matrix.values().data(),
                            matrix.row_lengths().data(),
                            data_or_null(matrix.row_of_slot()),
                            matrix.slice_height(),
                            matrix.rows()};
  const StepKernels<V>& run = kernels_for<V>();
  if constexpr (sizeof(I) == 4) {
    run.sell32(view, coefficients, vectors, rows.begin, rows.end);
  } else {
    run.sell64(view, coefficients, vectors, rows.begin, rows.end);
  }
}

template <Value V, Index I>
void step(const PackedSell<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows) {
  require_vector_count(vectors.count);
  const PackedSellView<V> view{matrix.entry_offsets().data(),
                               matrix.code_offsets().data(),
                               matrix.data_offsets().data(),
                               matrix.encodings().data(),
                               matrix.value_encodings().data(),
                               matrix.codes().data(),
                               matrix.data().data(),
                               matrix.table().values().data(),
                               matrix.table().size(),
                               data_or_null(matrix.presence().words()),
                               row_of_slot_view(matrix.row_of_slot()),
                               matrix.slice_height(),
                               matrix.run_length(),
                               matrix.has_full_values(),
                               matrix.rows()};
  kernels_for<V>().packed_sell(view, coefficients, vectors, rows.begin, rows.end);
}

#define STRATA_INSTANTIATE(V, I)                                                                 \
  template void step(const Csr<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&,        \
                     RowRange<I>);                                                               \
  template void step(const Sell<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&,       \
                     RowRange<I>);                                                               \
  template void step(const PackedSell<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&, \
                     RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cpu
