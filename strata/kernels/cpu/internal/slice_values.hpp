// The values of a slice of packed SELL (formats/value_encoding.hpp) for the kernels of a level:
// decoded a few columns at a time into a buffer that stays in the fastest cache, where they look as
// full values do. A row is therefore added up in the same order whatever its encoding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/formats/value_encoding.hpp"
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
inline ColumnPlaces<V> places_of(const EncodedValues<V>& values) {
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
inline ColumnOf column_of(const EncodedValues<V>& values, Offset entry) {
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

// The values of one column of a slice, one after the other. Inlined, so that the height is a
// constant where the caller has one.
template <Value V>
[[gnu::always_inline]] inline void decode_column(const EncodedValues<V>& values,
                                                 const ColumnPlaces<V>& places, Offset entry,
                                                 Offset height, V* to) {
  const ValueEncoding encoding = column_of(values, entry).encoding;
  const Offset number = column_of(values, entry).number;
  const auto by_codes = [&]<int per_word>(const std::uint32_t* words, Constant<per_word>) {
    const std::uint32_t* from = words + number / per_word * height;
    for (Offset lane = 0; lane < height; ++lane) {
      store(to + lane, loaded(values.table + code_in<per_word>(from[lane], number)));
    }
  };
  switch (encoding) {
    case ValueEncoding::constant:
    case ValueEncoding::masked: {
      const Number<V> constant = loaded(places.constants + number);
      const std::uint32_t mask = places.masks != nullptr ? places.masks[number] : ~std::uint32_t{};
      for (Offset lane = 0; lane < height; ++lane) {
        store(to + lane, mask >> lane & 1 ? constant : Number<V>{});
      }
      break;
    }
    case ValueEncoding::dict8: by_codes(places.dict8, Constant<4>()); break;
    case ValueEncoding::dict16: by_codes(places.dict16, Constant<2>()); break;
    default:
      __builtin_memcpy(static_cast<void*>(to), places.full + number * height,
                       static_cast<std::size_t>(height) * sizeof(V));
      break;
  }
}

// Columns that are decoded at a time, and room for them in slices of any height.
inline constexpr Offset kDecoded = 8;
template <Value V>
struct DecodedColumns {
  alignas(64) std::byte bytes[kDecoded * 32 * sizeof(V)];

  V* values() { return reinterpret_cast<V*>(bytes); }
};
template <Value V>
[[gnu::always_inline]] inline void decode(const EncodedValues<V>& values,
                                          const ColumnPlaces<V>& places, Offset begin, Offset end,
                                          Offset height, DecodedColumns<V>& to) {
  for (Offset entry = begin; entry < end; ++entry) {
    decode_column(values, places, entry, height, to.values() + (entry - begin) * height);
  }
}

}  // namespace strata::cpu::STRATA_CPU_LEVEL
