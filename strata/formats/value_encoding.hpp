// ValueEncoding: how packed SELL stores the values of a slice without losing a bit of them, and the
// bytes that this takes. Sparse products run at memory speed and matrices repeat their values, so
// most of these bytes can go.
//
// Some of it lies in the slice's code block behind the columns (its value block, from a multiple of
// 16 bytes on), the rest in its value data:
//
//            value block                              value data
//   constant V constant[width]                        –
//   masked   V constant[width], uint32 mask[width]    –
//   dict8    –                                        uint32 codes[⌈width/4⌉][C]
//   dict16   –                                        uint32 codes[⌈width/2⌉][C]
//   full     –                                        V value[width][C]
//   mixed    MixedHeader, uint32 column[width],       V value[full][C], uint32
//   codes[⌈dict16/2⌉][C],
//            uint32 mask[constants], padding to 16,   uint32 codes[⌈dict8/4⌉][C]
//            V constant[constants]
//
// Bit l of a mask tells whether lane l has the constant; else it has 0. Entry j of dict8 is byte
// j mod 4 of word ⌊j/4⌋, counted from the lowest one, and names a value of the matrix' ValueTable;
// dict16 likewise with two per word. In a mixed slice each column has an encoding of its own:
// column[j] is 8 · number + encoding, where the number counts the constant and masked columns
// together, and those of the other encodings each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "strata/base/checked.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/stored_values.hpp"
#include "strata/formats/value_table.hpp"

namespace strata {

enum class ValueEncoding : std::uint8_t { constant, masked, dict8, dict16, full, mixed };
inline constexpr std::array kValueEncodings{ValueEncoding::constant, ValueEncoding::masked,
                                            ValueEncoding::dict8,    ValueEncoding::dict16,
                                            ValueEncoding::full,     ValueEncoding::mixed};

constexpr std::string_view name_of(ValueEncoding encoding) {
  constexpr std::array<std::string_view, kValueEncodings.size()> names{
      "constant", "masked", "dict8", "dict16", "full", "mixed"};
  return names[static_cast<std::size_t>(encoding)];
}

// Of the tables of StoredValues::few: 16 values, and the zero that every table has for holes.
inline constexpr Offset kFewValues = 17;

// Which value encodings a conversion may use besides `full`, which fits every slice. Constants come
// with masks, and mixed slices follow from the others.
struct AllowedValues {
  bool constant = true;
  bool dict8 = true;
  bool dict16 = true;
  Offset most_codes = kLargestValueTable;  // the size of the table, at most

  static constexpr AllowedValues of(StoredValues values) {
    const bool codes = values >= StoredValues::few;
    return {.constant = values >= StoredValues::constants,
            .dict8 = codes,
            .dict16 = values == StoredValues::all,
            .most_codes = values == StoredValues::few ? kFewValues : kLargestValueTable};
  }
  constexpr bool codes() const { return dict8 || dict16; }
  constexpr bool any() const { return constant || codes(); }
  bool operator==(const AllowedValues&) const = default;
};

// The columns of a mixed slice by encoding.
struct MixedHeader {
  std::uint32_t constants = 0;  // and masked ones
  std::uint32_t full = 0;
  std::uint32_t dict16 = 0;
  std::uint32_t dict8 = 0;
};
static_assert(sizeof(MixedHeader) == 16);

// Where all columns but a full one are dict8, their numbers are those of the entries, and the full
// one has a place among the codes, too, which nobody reads: kernels then find codes as in dict8.
constexpr MixedHeader dict8_but_one(Offset width) {
  return {.full = 1, .dict8 = static_cast<std::uint32_t>(width)};
}
constexpr bool is_dict8_but_one(const MixedHeader& mixed, Offset width) {
  return mixed.full == 1 && mixed.dict8 == static_cast<std::uint32_t>(width);
}

constexpr std::uint32_t mixed_column(ValueEncoding encoding, std::uint32_t number) {
  return number * 8 + static_cast<std::uint32_t>(encoding);
}

constexpr Offset up_to_16(Offset bytes) {
  return ceil_div<Offset>(bytes, 16) * 16;
}
// Where the constants of a mixed slice begin in its value block, in bytes.
constexpr Offset mixed_constants_begin(Offset width, Offset constants) {
  return up_to_16(Offset{sizeof(MixedHeader)} + 4 * (width + constants));
}

// The bytes of so many columns of codes.
constexpr Offset dict8_bytes(Offset columns, Offset slice_height) {
  return ceil_div<Offset>(columns, 4) * slice_height * 4;
}
constexpr Offset dict16_bytes(Offset columns, Offset slice_height) {
  return ceil_div<Offset>(columns, 2) * slice_height * 4;
}

// Slices' value data begin at a multiple of this; full values lie together without a gap.
constexpr Offset data_alignment(Offset slice_height, Offset value_size) {
  return std::clamp<Offset>(slice_height * value_size, 16, 64);
}

// The bytes of a value block; of a mixed one, whose header is given.
constexpr Offset value_block_bytes(ValueEncoding encoding, Offset width, Offset value_size,
                                   const MixedHeader& mixed) {
  switch (encoding) {
    case ValueEncoding::constant: return width * value_size;
    case ValueEncoding::masked: return width * (value_size + 4);
    case ValueEncoding::mixed:
      return mixed_constants_begin(width, mixed.constants) + mixed.constants * value_size;
    default: return 0;
  }
}
constexpr Offset value_data_bytes(ValueEncoding encoding, Offset slice_height, Offset width,
                                  Offset value_size, const MixedHeader& mixed) {
  switch (encoding) {
    case ValueEncoding::dict8: return dict8_bytes(width, slice_height);
    case ValueEncoding::dict16: return dict16_bytes(width, slice_height);
    case ValueEncoding::full: return width * slice_height * value_size;
    case ValueEncoding::mixed:
      return mixed.full * slice_height * value_size + dict16_bytes(mixed.dict16, slice_height) +
             dict8_bytes(mixed.dict8, slice_height);
    default: return 0;
  }
}

// Where the columns of an encoding begin in the value data of a mixed slice.
template <Value V>
constexpr Offset mixed_data_begin(ValueEncoding encoding, Offset slice_height,
                                  const MixedHeader& mixed) {
  const Offset full = mixed.full * slice_height * Offset{sizeof(V)};
  switch (encoding) {
    case ValueEncoding::dict16: return full;
    case ValueEncoding::dict8: return full + dict16_bytes(mixed.dict16, slice_height);
    default: return 0;
  }
}

// A number at a place that need not be aligned for it.
template <class T>
T number_at(const std::byte* from, Offset element) {
  T number;
  std::memcpy(static_cast<void*>(&number), from + element * Offset{sizeof(T)}, sizeof(T));
  return number;
}

// The values of one slice, one at a time: for conversions and the reference kernels.
template <Value V>
struct SliceValues {
  ValueEncoding encoding;
  Offset height;
  Offset width;
  const std::byte* block;
  const std::byte* data;
  const V* table;

  // Of a hole or of padding 0.
  V at(Offset entry, Offset lane) const {
    if (encoding != ValueEncoding::mixed)
      return column_at(encoding, entry, lane, width, block, data);
    const auto header = number_at<MixedHeader>(block, 0);
    const auto column = number_at<std::uint32_t>(block + sizeof(MixedHeader), entry);
    const auto own = static_cast<ValueEncoding>(column % 8);
    const std::byte* masks = block + sizeof(MixedHeader) + 4 * width;
    if (own == ValueEncoding::constant || own == ValueEncoding::masked) {
      if ((number_at<std::uint32_t>(masks, column / 8) >> lane & 1) == 0) return V{};
      return number_at<V>(block + mixed_constants_begin(width, header.constants), column / 8);
    }
    return column_at(own, column / 8, lane, 0, nullptr,
                     data + mixed_data_begin<V>(own, height, header));
  }

 private:
  V column_at(ValueEncoding own, Offset number, Offset lane, Offset columns,
              const std::byte* constants, const std::byte* place) const {
    const auto code = [&](Offset per_word) {
      const auto word = number_at<std::uint32_t>(place, number / per_word * height + lane);
      const Offset bits = 32 / per_word;
      return word >> (number % per_word * bits) & ((std::uint32_t{1} << bits) - 1);
    };
    switch (own) {
      case ValueEncoding::constant: return number_at<V>(constants, number);
      case ValueEncoding::masked: {
        const std::byte* masks = constants + columns * Offset{sizeof(V)};
        const bool here = (number_at<std::uint32_t>(masks, number) >> lane & 1) != 0;
        return here ? number_at<V>(constants, number) : V{};
      }
      case ValueEncoding::dict8: return table[code(4)];
      case ValueEncoding::dict16: return table[code(2)];
      default: return number_at<V>(place, number * height + lane);
    }
  }
};

}  // namespace strata
