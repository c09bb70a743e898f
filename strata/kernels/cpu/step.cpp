// Hands a step to the kernels of the level that runs (levels.hpp), which see the matrix as pointers
// and sizes.
#include "strata/kernels/cpu/step.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/internal/kernels_for.hpp"

namespace strata::cpu {

namespace {

template <class T>
const T* data_or_null(std::span<const T> array) {
  return array.empty() ? nullptr : array.data();
}

// The kernel for the index type of the two.
template <Index I, class Narrow, class Wide>
auto kernel_for(Narrow narrow, Wide wide) {
  if constexpr (sizeof(I) == 4) {
    return narrow;
  } else {
    return wide;
  }
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
  const CsrView<V, I> view = view_of(matrix);
  const StepKernels<V>& run = kernels_for<V>();
  kernel_for<I>(run.csr32, run.csr64)(view, coefficients, vectors, rows.begin, rows.end);
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
  kernel_for<I>(run.sell32, run.sell64)(view, coefficients, vectors, rows.begin, rows.end);
}

template <Value V, Index I>
void step(const PackedSell<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows,
          Given<RowRange<I>> upcoming) {
  require_vector_count(vectors.count);
  const Offset first_byte = matrix.data_offsets()[upcoming.begin / matrix.slice_height()];
  const Offset last_byte = matrix.data_offsets()[upcoming.end / matrix.slice_height()];
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
                               matrix.rows(),
                               matrix.data().data() + first_byte,
                               last_byte - first_byte};
  kernels_for<V>().packed_sell(view, coefficients, vectors, rows.begin, rows.end);
}

template <Value V, Index I>
void step(const BlockedCoo<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows) {
  require_vector_count(vectors.count);
  const BlockedCooView<V> view{
      matrix.block_offsets().data(), matrix.row_indices().data(), matrix.column_indices().data(),
      matrix.values().data(),        matrix.block_rows(),         matrix.block_cols(),
      matrix.blocks_across()};
  kernels_for<V>().blocked_coo(view, coefficients, vectors, rows.begin, rows.end);
}

template <Value V, Index I>
void step(const Ell<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows) {
  require_vector_count(vectors.count);
  const EllView<V, I> view{matrix.columns().data(), matrix.values().data(),
                           matrix.row_lengths().data(), matrix.rows()};
  const StepKernels<V>& run = kernels_for<V>();
  kernel_for<I>(run.ell32, run.ell64)(view, coefficients, vectors, rows.begin, rows.end);
}

template <Value V, Index I>
void step(const Dia<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows) {
  require_vector_count(vectors.count);
  const DiaView<V, I> view{
      matrix.offsets().data(), matrix.values().data(), data_or_null(matrix.presence().words()),
      matrix.diagonals(),      matrix.rows(),          matrix.cols()};
  const StepKernels<V>& run = kernels_for<V>();
  kernel_for<I>(run.dia32, run.dia64)(view, coefficients, vectors, rows.begin, rows.end);
}

template <Value V, Index I>
void step(const Jds<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows) {
  require_vector_count(vectors.count);
  const JdsView<V, I> view{matrix.row_of_slot().data(), matrix.diagonal_offsets().data(),
                           matrix.columns().data(), matrix.values().data(), matrix.diagonals()};
  const StepKernels<V>& run = kernels_for<V>();
  kernel_for<I>(run.jds32, run.jds64)(view, coefficients, vectors, rows.begin, rows.end);
}

template <Value V, Index I>
void step(const Bcsr<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows) {
  require_vector_count(vectors.count);
  const BcsrView<V, I> view{matrix.block_row_offsets().data(),
                            matrix.block_columns().data(),
                            matrix.values().data(),
                            data_or_null(matrix.presence().words()),
                            matrix.block_rows(),
                            matrix.block_cols(),
                            matrix.rows(),
                            matrix.cols()};
  const StepKernels<V>& run = kernels_for<V>();
  kernel_for<I>(run.bcsr32, run.bcsr64)(view, coefficients, vectors, rows.begin, rows.end);
}

#define STRATA_INSTANTIATE(V, I)                                                                 \
  template void step(const Csr<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&,        \
                     RowRange<I>);                                                               \
  template void step(const Sell<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&,       \
                     RowRange<I>);                                                               \
  template void step(const BlockedCoo<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&, \
                     RowRange<I>);                                                               \
  template void step(const PackedSell<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&, \
                     RowRange<I>, RowRange<I>);                                                  \
  template void step(const Ell<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&,        \
                     RowRange<I>);                                                               \
  template void step(const Dia<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&,        \
                     RowRange<I>);                                                               \
  template void step(const Jds<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&,        \
                     RowRange<I>);                                                               \
  template void step(const Bcsr<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&,       \
                     RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cpu
