#include "strata/formats/packed_sell.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/internal/level_functions.hpp"
#include "strata/kernels/cpu/internal/slice.hpp"
#include "strata/kernels/cpu/internal/slice_values.hpp"

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
  template <int count, Value V>
  void take_from(const V* x, Offset entry, Offset lane, Lanes<V, count>& lanes) const {
    lanes.load(x + first_slot + lane + offsets[entry]);
  }
};

template <class Delta>
struct DeltaColumns {
  const std::int32_t* bases;
  const Delta* deltas;
  Offset first_slot;
  Offset height;

  Offset at(Offset entry, Offset lane) const {
    return first_slot + bases[entry] + deltas[entry * height + lane];
  }
  template <int height_, Value V>
  void take(const V* x, Offset entry, Lanes<V, height_>& lanes) const {
    lanes.gather(x + first_slot + bases[entry], deltas + entry * height_);
  }
  template <int count, Value V>
  void take_from(const V* x, Offset entry, Offset lane, Lanes<V, count>& lanes) const {
    lanes.gather(x + first_slot + bases[entry], deltas + entry * height + lane);
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
                                      slice.first_slot, slice.height});
      break;
    case SliceEncoding::delta16:
      body(DeltaColumns<std::uint16_t>{as<std::int32_t>(codes), as<std::uint16_t>(deltas),
                                       slice.first_slot, slice.height});
      break;
    case SliceEncoding::index32:
      body(IndexColumns<std::int32_t>{as<std::int32_t>(codes), slice.height});
      break;
  }
}

// Inlined, so that the height is a constant where the caller has one.
template <Value V>
[[gnu::always_inline]] inline EncodedValues<V> values_of(const PackedSellView<V>& matrix,
                                                         const Slice<V>& slice) {
  const Offset number = slice.first_slot / slice.height;
  const Offset alignment = slice.height > 16 ? slice.height : 16;
  const auto aligned = [&](Offset bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  };
  // As value_block_begin() of packed_sell.hpp.
  const Offset numbers = slice.width * Offset{sizeof(std::int32_t)};
  const Offset entries = slice.width * slice.height;
  Offset columns = 0;
  switch (matrix.encodings[number]) {
    case SliceEncoding::dia: columns = aligned(numbers); break;
    case SliceEncoding::delta8: columns = aligned(aligned(numbers) + entries); break;
    case SliceEncoding::delta16: columns = aligned(aligned(numbers) + entries * 2); break;
    case SliceEncoding::index32: columns = aligned(entries * 4); break;
  }
  return {matrix.value_encodings[number],
          slice.height,
          slice.width,
          matrix.codes + matrix.code_offsets[number] + columns,
          matrix.data + matrix.data_offsets[number],
          matrix.table};
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
    const Offset first = matrix.entry_offsets[slice.first_slot / slice.height] + lane;
    const EncodedValues<V> values = values_of(matrix, slice);
    for (int v = 0; v < count; ++v) sums[v] = {};
    with_columns(matrix, slice, [&](const auto& columns) {
      for (Offset entry = 0; entry < slice.width; ++entry) {
        if (!is_entry(first + entry * slice.height)) continue;
        const V* from = x + columns.at(entry, lane) * count;
        const Number<V> value = value_at(values, entry, lane);
        STRATA_KEEP_LOOP
        for (int v = 0; v < count; ++v) sums[v] = multiply_add(value, loaded(from + v), sums[v]);
      }
    });
  }

 private:
  bool is_entry(Offset position) const {
    return matrix.presence == nullptr || (matrix.presence[position / 64] >> (position % 64) & 1);
  }
};

// body(slice) for each slice of the rows. Its values are full ones, if they are.
template <Value V, class Body>
[[gnu::always_inline]] inline void for_each_slice(const PackedSellView<V>& matrix, Offset height,
                                                  Offset begin, Offset end, const Body& body) {
  for (Offset first = begin; first < end; first += height) {
    const Offset number = first / height;
    const Offset entries = matrix.entry_offsets[number + 1] - matrix.entry_offsets[number];
    const Offset left = matrix.rows - first;
    body(Slice<V>{at_bytes<V>(matrix.data, matrix.data_offsets[number]), entries / height, height,
                  first, left < height ? left : height});
  }
}

// Encoded values come from few registers, so that more than some for the sums would only be in the
// way: so many lanes at a time.
template <Value V>
inline constexpr int kLanesAtATime = 8 * kRegisterBytes / static_cast<int>(sizeof(Real<V>));

template <int height, Value V, class Columns, class ColumnOfEntry>
[[gnu::always_inline]] inline void step_encoded(const PackedSellView<V>& matrix,
                                                const Step<V>& step, const StepVectors<V>& vectors,
                                                const Slice<V>& slice,
                                                const EncodedValues<V>& values,
                                                const Columns& columns,
                                                const ColumnOfEntry& column_of_entry) {
  constexpr int kLanes = height < kLanesAtATime<V> ? height : kLanesAtATime<V>;
  const ColumnPlaces<V> places = places_of(values);
  for (Offset lane = 0; lane < slice.rows; lane += kLanes) {
    Lanes<V, kLanes> sums;
    for (Offset entry = 0; entry < slice.width; ++entry) {
      Lanes<V, kLanes> factors;
      columns.template take_from<kLanes>(vectors.x, entry, lane, factors);
      add_column(values, places, column_of_entry(entry), lane, factors, sums);
    }
    // A copy, so that the sums themselves have no address and stay in registers.
    Lanes<V, kLanes> results = sums;
    finish_slice(step, vectors, slice, Rows<V>{matrix}, results, lane);
  }
}

template <int height, Value V>
void step_lanes(const PackedSellView<V>& matrix, const Step<V>& step, const StepVectors<V>& vectors,
                Offset begin, Offset end) {
  for_each_slice(matrix, height, begin, end, [&](const Slice<V>& slice) STRATA_INLINE {
    const EncodedValues<V> values = values_of(matrix, slice);
    if (values.encoding != ValueEncoding::full) {
      with_columns(matrix, slice, [&](const auto& columns) STRATA_INLINE {
        with_encoding(values, [&](const auto& column_of_entry) STRATA_INLINE {
          step_encoded<height>(matrix, step, vectors, slice, values, columns, column_of_entry);
        });
      });
      return;
    }
    Lanes<V, height> sums;
    with_columns(matrix, slice, [&](const auto& columns) STRATA_INLINE {
      multiply(slice, columns, vectors.x, sums);
    });
    finish_slice(step, vectors, slice, Rows<V>{matrix}, sums);
  });
}

// Several vectors.
template <int count, Value V, class Columns>
void step_encoded_rowwise(const PackedSellView<V>& matrix, const Step<V>& step,
                          const StepVectors<V>& vectors, const Slice<V>& slice,
                          const Columns& columns) {
  const EncodedValues<V> values = values_of(matrix, slice);
  const Rows<V> rows{matrix};
  for (Offset lane = 0; lane < slice.rows; ++lane) {
    Number<V> sums[count] = {};
    for (Offset entry = 0; entry < slice.width; ++entry) {
      const V* from = vectors.x + columns.at(entry, lane) * count;
      const Number<V> value = value_at(values, entry, lane);
      for (int v = 0; v < count; ++v) sums[v] = multiply_add(value, loaded(from + v), sums[v]);
    }
    finish_row_of_slice(step, vectors, slice, rows, lane, sums);
  }
}

template <int count, Value V>
void step_rowwise(const PackedSellView<V>& matrix, const Step<V>& step,
                  const StepVectors<V>& vectors, Offset begin, Offset end) {
  for_each_slice(matrix, matrix.slice_height, begin, end, [&](const Slice<V>& slice) {
    const Offset number = slice.first_slot / slice.height;
    const bool full = matrix.value_encodings[number] == ValueEncoding::full;
    with_columns(matrix, slice, [&](const auto& columns) {
      if (full) {
        step_slice_rowwise<count>(step, vectors, slice, columns, Rows<V>{matrix});
      } else {
        step_encoded_rowwise<count>(matrix, step, vectors, slice, columns);
      }
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
