#include "strata/formats/sell.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/slice.hpp"

namespace strata::cpu {

namespace {

template <Value V, Index I>
struct Padding {
  const Sell<V, I>& matrix;
  Offset first_slot;

  bool is_entry(Offset entry, Offset lane) const {
    return entry < matrix.row_lengths()[first_slot + lane];
  }
  Offset row_at(Offset lane) const { return matrix.row_at(static_cast<I>(first_slot + lane)); }
};

// body(slice, columns, padding) for each slice of the rows.
template <Value V, Index I, class Body>
void for_each_slice(const Sell<V, I>& matrix, RowRange<I> rows, const Body& body) {
  const Offset height = matrix.slice_height();
  for (Offset first = rows.begin; first < rows.end; first += height) {
    const Offset begin = matrix.slice_offsets()[first / height];
    const Offset end = matrix.slice_offsets()[first / height + 1];
    const Slice<V> slice{matrix.values().data() + begin,
                         (end - begin) / height,
                         height,
                         first,
                         std::min<Offset>(height, matrix.rows() - first),
                         matrix.sorted()};
    body(slice, IndexColumns<I>{matrix.columns().data() + begin, height},
         Padding<V, I>{matrix, first});
  }
}

}  // namespace

template <Value V, Index I>
void step(const Sell<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows) {
  const auto by_lanes = [&]<int height>(std::integral_constant<int, height>) {
    for_each_slice(matrix, rows, [&](const auto& slice, const auto& columns, const auto& padding) {
      step_slice<height>(slice, columns, padding, coefficients, vectors);
    });
  };
  if (vectors.count == 1 && with_slice_height(matrix.slice_height(), by_lanes)) return;
  with_vector_count(vectors.count, [&]<int count>(std::integral_constant<int, count>) {
    for_each_slice(matrix, rows, [&](const auto& slice, const auto& columns, const auto& padding) {
      step_slice_rowwise<count>(slice, columns, padding, coefficients, vectors);
    });
  });
}

#define STRATA_INSTANTIATE(V, I)                                                           \
  template void step(const Sell<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&, \
                     RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cpu
