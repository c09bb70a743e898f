#include "strata/formats/packed_sell.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/slice.hpp"

namespace strata::cpu {

namespace {

// The encodings of a code block, see formats/packed_sell.hpp. Blocks are aligned for these types.
template <class T>
const T* as(const std::byte* codes) {
  return reinterpret_cast<const T*>(codes);
}

struct DiaColumns {
  const std::int32_t* offsets;
  Offset first_slot;

  Offset at(Offset entry, Offset lane) const { return first_slot + lane + offsets[entry]; }
  template <int height, Value V>
  void take(const V* x, Offset entry, Lanes<V, height>& lanes) const {
    lanes.load(x + first_slot + offsets[entry]);
  }
};

template <class Delta>
struct DeltaColumns {
  const std::int32_t* bases;
  const Delta* deltas;
  Offset height;

  Offset at(Offset entry, Offset lane) const {
    return Offset{bases[entry]} + deltas[entry * height + lane];
  }
  template <int height_, Value V>
  void take(const V* x, Offset entry, Lanes<V, height_>& lanes) const {
    lanes.gather(x + bases[entry], deltas + entry * height_);
  }
};

template <Value V, Index I>
struct Padding {
  const PackedSell<V, I>& matrix;
  Offset first_slot;

  bool is_entry(Offset entry, Offset lane) const {
    return matrix.presence().has(matrix.position(first_slot + lane, entry));
  }
  Offset row_at(Offset lane) const { return matrix.row_at(static_cast<I>(first_slot + lane)); }
};

// body(columns) with the columns of a slice in their encoding.
template <Value V, class Body>
void with_columns(SliceEncoding encoding, const std::byte* codes, const Slice<V>& slice,
                  const Body& body) {
  const std::byte* deltas = codes + delta_begin(slice.height, slice.width);
  switch (encoding) {
    case SliceEncoding::dia: body(DiaColumns{as<std::int32_t>(codes), slice.first_slot}); break;
    case SliceEncoding::delta8:
      body(DeltaColumns<std::uint8_t>{as<std::int32_t>(codes), as<std::uint8_t>(deltas),
                                      slice.height});
      break;
    case SliceEncoding::delta16:
      body(DeltaColumns<std::uint16_t>{as<std::int32_t>(codes), as<std::uint16_t>(deltas),
                                       slice.height});
      break;
    case SliceEncoding::index32:
      body(IndexColumns<std::int32_t>{as<std::int32_t>(codes), slice.height});
      break;
  }
}

// body(slice, columns, padding) for each slice of the rows.
template <Value V, Index I, class Body>
void for_each_slice(const PackedSell<V, I>& matrix, RowRange<I> rows, const Body& body) {
  const Offset height = matrix.slice_height();
  const V* values = matrix.values().data();
  const std::byte* codes = matrix.codes().data();
  for (Offset first = rows.begin; first < rows.end; first += height) {
    const Offset number = first / height;
    const Offset begin = matrix.value_offsets()[number];
    const Slice<V> slice{
        values + begin, (matrix.value_offsets()[number + 1] - begin) / height, height,
        first,          std::min<Offset>(height, matrix.rows() - first),       matrix.sorted()};
    with_columns(matrix.encodings()[number], codes + matrix.code_offsets()[number], slice,
                 [&](const auto& columns) { body(slice, columns, Padding<V, I>{matrix, first}); });
  }
}

}  // namespace

template <Value V, Index I>
void step(const PackedSell<V, I>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<StepVectors<V>>& vectors, Given<RowRange<I>> rows) {
  if (vectors.count == 1) {
    with_slice_height(matrix.slice_height(), [&]<int height>(std::integral_constant<int, height>) {
      for_each_slice(matrix, rows,
                     [&](const auto& slice, const auto& columns, const auto& padding) {
                       step_slice<height>(slice, columns, padding, coefficients, vectors);
                     });
    });
    return;
  }
  with_vector_count(vectors.count, [&]<int count>(std::integral_constant<int, count>) {
    for_each_slice(matrix, rows, [&](const auto& slice, const auto& columns, const auto& padding) {
      step_slice_rowwise<count>(slice, columns, padding, coefficients, vectors);
    });
  });
}

#define STRATA_INSTANTIATE(V, I)                                                                 \
  template void step(const PackedSell<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&, \
                     RowRange<I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cpu
