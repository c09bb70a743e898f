// The values of a slice of packed SELL (formats/value_encoding.hpp) for the kernels of a level. A
// row is added up in the same order whatever its encoding, and with the same products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "strata/base/types.hpp"
#include "strata/formats/value_encoding.hpp"
#include "strata/kernels/cpu/internal/code_tables.hpp"
#include "strata/kernels/cpu/internal/lanes.hpp"
#include "strata/kernels/cpu/internal/numbers.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

// The encoded values of one slice.
template <Value V>
struct EncodedValues {
  ValueEncoding encoding;
  Offset height;
  Offset width;
  const std::byte* block;
  const std::byte* data;
  const V* table;
};

// The place of the columns with one encoding.
template <Value V>
struct ColumnPlaces {
  const V* constants;
  const std::uint32_t* masks;  // null where there are none
  const V* full;
  const std::uint32_t* dict16;
  const std::uint32_t* dict8;
};

template <class T>
inline const T* at_bytes(const std::byte* from, Offset bytes) {
  return reinterpret_cast<const T*>(from + bytes);
}

template <Value V>
[[gnu::always_inline]] inline ColumnPlaces<V> places_of(const EncodedValues<V>& values) {
  constexpr Offset kSize = sizeof(V);
  if (values.encoding != ValueEncoding::mixed) {
    const bool masked = values.encoding == ValueEncoding::masked;
    return {at_bytes<V>(values.block, 0),
            masked ? at_bytes<std::uint32_t>(values.block, values.width * kSize) : nullptr,
            at_bytes<V>(values.data, 0), at_bytes<std::uint32_t>(values.data, 0),
            at_bytes<std::uint32_t>(values.data, 0)};
  }
  const auto* header = at_bytes<MixedHeader>(values.block, 0);
  const Offset words = (values.width + header->constants) * 4 + Offset{sizeof(MixedHeader)};
  const Offset full = header->full * values.height * kSize;
  const Offset dict16 = (Offset{header->dict16} + 1) / 2 * values.height * 4;
  return {at_bytes<V>(values.block, (words + 15) / 16 * 16),
          at_bytes<std::uint32_t>(values.block, Offset{sizeof(MixedHeader)} + values.width * 4),
          at_bytes<V>(values.data, 0), at_bytes<std::uint32_t>(values.data, full),
          at_bytes<std::uint32_t>(values.data, full + dict16)};
}

// Which encoding a column has, and its number among those.
struct ColumnOf {
  ValueEncoding encoding;
  Offset number;
};
template <Value V>
[[gnu::always_inline]] inline ColumnOf column_of(const EncodedValues<V>& values, Offset entry) {
  if (values.encoding != ValueEncoding::mixed) return {values.encoding, entry};
  const std::uint32_t column =
      at_bytes<std::uint32_t>(values.block, Offset{sizeof(MixedHeader)})[entry];
  return {static_cast<ValueEncoding>(column % 8), column / 8};
}

// One value.
template <Value V>
STRATA_INLINE inline Number<V> value_at(const EncodedValues<V>& values,
                                        const ColumnPlaces<V>& places, ColumnOf column,
                                        Offset lane) {
  const Offset number = column.number;
  switch (column.encoding) {
    case ValueEncoding::constant: return loaded(places.constants + number);
    case ValueEncoding::masked:
      if ((places.masks[number] >> lane & 1) == 0) return {};
      return loaded(places.constants + number);
    case ValueEncoding::dict8: {
      const std::uint32_t word = places.dict8[number / 4 * values.height + lane];
      return loaded(values.table + SingleTable<V, 8>::code(word, static_cast<int>(number % 4)));
    }
    case ValueEncoding::dict16: {
      const std::uint32_t word = places.dict16[number / 2 * values.height + lane];
      return loaded(values.table + SingleTable<V, 16>::code(word, static_cast<int>(number % 2)));
    }
    default: return loaded(places.full + number * values.height + lane);
  }
}

template <Value V>
STRATA_INLINE inline bool has_codes(const EncodedValues<V>& values) {
  switch (values.encoding) {
    case ValueEncoding::dict8:
    case ValueEncoding::dict16: return true;
    case ValueEncoding::mixed: {
      const auto* header = at_bytes<MixedHeader>(values.block, 0);
      return header->dict8 + header->dict16 != 0;
    }
    default: return false;
  }
}

// In place of a table where no column has codes: the code for them would only take registers.
struct NoTable {};

// Adds a column of a slice times x to the sums of so many lanes from one on. The table is that of
// codes with 8 bits.
template <int count, Value V, class Table, class Factors>
STRATA_INLINE inline void add_column(const EncodedValues<V>& values, const ColumnPlaces<V>& places,
                                     const Table& table, ColumnOf column, Offset first_lane,
                                     const Factors& x, Lanes<V, count>& sums) {
  const Offset number = column.number;
  if constexpr (!std::is_same_v<Table, NoTable>) {
    if (column.encoding == ValueEncoding::dict8) {
      sums.add_coded(table, places.dict8 + number / 4 * values.height + first_lane,
                     static_cast<int>(number % 4), x);
      return;
    }
    if (column.encoding == ValueEncoding::dict16) {
      sums.add_coded(SingleTable<V, 16>(values.table),
                     places.dict16 + number / 2 * values.height + first_lane,
                     static_cast<int>(number % 2), x);
      return;
    }
  }
  if (column.encoding == ValueEncoding::full) {
    sums.multiply_add(places.full + number * values.height + first_lane, x);
    return;
  }
  constexpr std::uint32_t kAll = ~std::uint32_t{0} >> (32 - count);
  const std::uint32_t mask =
      column.encoding == ValueEncoding::masked ? places.masks[number] >> first_lane & kAll : kAll;
  if (mask == kAll) {
    sums.add_scaled(loaded(places.constants + number), x);
  } else {
    sums.add_masked(loaded(places.constants + number), mask, x);
  }
}

}  // namespace strata::cpu::STRATA_CPU_LEVEL
