// The values of a slice of packed SELL (formats/value_encoding.hpp) for the kernels of a level. A
// row is added up in the same order whatever its encoding, and with the same products.
#pragma once

#include <cstddef>
#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/formats/value_encoding.hpp"
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
  const std::uint32_t* masks;  // null where every lane has the constant
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

template <int per_word>
inline std::uint32_t code_in(std::uint32_t word, Offset number) {
  constexpr int kBits = 32 / per_word;
  return word >> (number % per_word * kBits) & ((std::uint32_t{1} << kBits) - 1);
}

// One value.
template <Value V>
inline Number<V> value_at(const EncodedValues<V>& values, Offset entry, Offset lane) {
  const ColumnPlaces<V> places = places_of(values);
  const ColumnOf column = column_of(values, entry);
  const Offset number = column.number;
  switch (column.encoding) {
    case ValueEncoding::constant:
    case ValueEncoding::masked:
      if (places.masks != nullptr && (places.masks[number] >> lane & 1) == 0) return {};
      return loaded(places.constants + number);
    case ValueEncoding::dict8:
      return loaded(values.table +
                    code_in<4>(places.dict8[number / 4 * values.height + lane], number));
    case ValueEncoding::dict16:
      return loaded(values.table +
                    code_in<2>(places.dict16[number / 2 * values.height + lane], number));
    default: return loaded(places.full + number * values.height + lane);
  }
}

// Adds a column of a slice times x to the sums of so many lanes from one on.
template <int count, Value V>
[[gnu::always_inline]] inline void add_column(const EncodedValues<V>& values,
                                              const ColumnPlaces<V>& places, ColumnOf column,
                                              Offset first_lane, const Lanes<V, count>& x,
                                              Lanes<V, count>& sums) {
  const Offset number = column.number;
  switch (column.encoding) {
    case ValueEncoding::constant: sums.add_scaled(loaded(places.constants + number), x); break;
    case ValueEncoding::masked:
      sums.add_masked(loaded(places.constants + number), places.masks[number] >> first_lane, x);
      break;
    case ValueEncoding::dict8:
      sums.template add_coded<8>(values.table,
                                 places.dict8 + number / 4 * values.height + first_lane,
                                 static_cast<int>(number % 4 * 8), x);
      break;
    case ValueEncoding::dict16:
      sums.template add_coded<16>(values.table,
                                  places.dict16 + number / 2 * values.height + first_lane,
                                  static_cast<int>(number % 2 * 16), x);
      break;
    default: sums.multiply_add(places.full + number * values.height + first_lane, x); break;
  }
}

// body(column_of) with what tells the column of an entry. Where all columns have one encoding, it
// is a constant.
template <Value V, class Body>
[[gnu::always_inline]] inline void with_encoding(const EncodedValues<V>& values, const Body& body) {
  switch (values.encoding) {
    case ValueEncoding::constant:
      body([](Offset entry) STRATA_INLINE { return ColumnOf{ValueEncoding::constant, entry}; });
      break;
    case ValueEncoding::masked:
      body([](Offset entry) STRATA_INLINE { return ColumnOf{ValueEncoding::masked, entry}; });
      break;
    case ValueEncoding::dict8:
      body([](Offset entry) STRATA_INLINE { return ColumnOf{ValueEncoding::dict8, entry}; });
      break;
    default: body([&](Offset entry) STRATA_INLINE { return column_of(values, entry); }); break;
  }
}

}  // namespace strata::cpu::STRATA_CPU_LEVEL
