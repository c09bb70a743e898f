#include "strata/formats/packed_sell.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/internal/level_functions.hpp"
#include "strata/kernels/cpu/internal/slice.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

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

// body(columns) with the columns of a slice in their encoding.
template <Value V, class Body>
[[gnu::always_inline]] inline void with_columns(const PackedSellView<V>& matrix,
                                                const Slice<V>& slice, const Body& body) {
  const Offset alignment = slice.height > 16 ? slice.height : 16;
  const Offset number = slice.first_slot / slice.height;
  const std::byte* codes = matrix.codes + matrix.code_offsets[number];
  const Offset bases = slice.width * Offset{sizeof(std::int32_t)};
  const std::byte* deltas = codes + (bases + alignment - 1) / alignment * alignment;
  switch (matrix.encodings[number]) {
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

template <Value V>
struct Rows {
  const PackedSellView<V>& matrix;

  bool sorted() const {
    return matrix.row_of_slot.narrow != nullptr || matrix.row_of_slot.wide != nullptr;
  }
  Offset row_at(Offset slot) const {
    if (matrix.row_of_slot.narrow != nullptr) return matrix.row_of_slot.narrow[slot];
    return matrix.row_of_slot.wide != nullptr ? matrix.row_of_slot.wide[slot] : slot;
  }
  [[gnu::noinline]] void sum_entries(const Slice<V>& slice, Offset lane, const V* x, int count,
                                     Number<V>* sums) const {
    const Offset first = slice.values - matrix.values + lane;
    with_columns(matrix, slice, [&](const auto& columns) {
      sum_lane(
          slice, lane, columns, x, count,
          [&](Offset entry) { return is_entry(first + entry * slice.height); }, sums);
    });
  }

 private:
  bool is_entry(Offset position) const {
    return matrix.presence == nullptr || (matrix.presence[position / 64] >> (position % 64) & 1);
  }
};

// body(slice) for each slice of the rows.
template <Value V, class Body>
[[gnu::always_inline]] inline void for_each_slice(const PackedSellView<V>& matrix, Offset height,
                                                  Offset begin, Offset end, const Body& body) {
  for (Offset first = begin; first < end; first += height) {
    const Offset* value_offsets = matrix.value_offsets + first / height;
    const Offset left = matrix.rows - first;
    body(Slice<V>{matrix.values + value_offsets[0], (value_offsets[1] - value_offsets[0]) / height,
                  height, first, left < height ? left : height});
  }
}

template <int height, Value V>
void step_lanes(const PackedSellView<V>& matrix, const Step<V>& step, const StepVectors<V>& vectors,
                Offset begin, Offset end) {
  for_each_slice(matrix, height, begin, end, [&](const Slice<V>& slice) STRATA_INLINE {
    Lanes<V, height> sums;
    with_columns(matrix, slice, [&](const auto& columns) STRATA_INLINE {
      multiply(slice, columns, vectors.x, sums);
    });
    finish_slice(step, vectors, slice, Rows<V>{matrix}, sums);
  });
}

template <int count, Value V>
void step_rowwise(const PackedSellView<V>& matrix, const Step<V>& step,
                  const StepVectors<V>& vectors, Offset begin, Offset end) {
  for_each_slice(matrix, matrix.slice_height, begin, end, [&](const Slice<V>& slice) {
    with_columns(matrix, slice, [&](const auto& columns) {
      step_slice_rowwise<count>(step, vectors, slice, columns, Rows<V>{matrix});
    });
  });
}

}  // namespace

template <Value V>
void step_packed_sell(const PackedSellView<V>& matrix, const StepCoefficients<V>& coefficients,
                      const StepVectors<V>& vectors, Offset begin, Offset end) {
  const Step<V> step = step_of(coefficients);
  if (vectors.count == 1) {
    with_slice_height(matrix.slice_height, [&]<int height>(Constant<height>) {
      step_lanes<height>(matrix, step, vectors, begin, end);
    });
  } else {
    with_vector_count<2>(vectors.count, [&]<int count>(Constant<count>) {
      step_rowwise<count>(matrix, step, vectors, begin, end);
    });
  }
}

#define STRATA_INSTANTIATE(V, unused)                                                  \
  template void step_packed_sell(const PackedSellView<V>&, const StepCoefficients<V>&, \
                                 const StepVectors<V>&, Offset, Offset)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::cpu::STRATA_CPU_LEVEL
