// The values of a slice of packed SELL on a GPU, by their encoding (formats/value_encoding.hpp):
// values.at(thread, entry, row). What all rows of a slice share is read from the code block, which
// many slices share, so that it comes from the first-level cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "strata/formats/value_encoding.hpp"
#include "strata/kernels/gpu/simt.hpp"
#include "strata/kernels/gpu/value.hpp"

namespace strata::gpu {

// The first so many values of the table are in shared memory: all that 8 bits can name.
inline constexpr int kNearTable = 256;

template <class Loads, int height, class T>
struct FullValues {
  const T* values;

  template <class Thread>
  STRATA_DEVICE T at(Thread& thread, int entry, int row) const {
    return Loads::load(thread, values + entry * height + row);
  }
};

template <class T>
struct ConstantValues {
  const T* constants;

  template <class Thread>
  STRATA_DEVICE T at(Thread&, int entry, int) const {
    return constants[entry];
  }
};

template <class T>
struct MaskedValues {
  const T* constants;
  const std::uint32_t* masks;

  template <class Thread>
  STRATA_DEVICE T at(Thread&, int entry, int row) const {
    return (masks[entry] >> row & 1) != 0 ? constants[entry] : T{};
  }
};

// The code of an entry in its word.
template <int per_word>
STRATA_DEVICE std::uint32_t code_in(std::uint32_t word, int entry) {
  constexpr int bits = 32 / per_word;
  return word >> (entry % per_word * bits) & ((1u << bits) - 1);
}

template <class Loads, int height, int per_word, class T>
struct CodedValues {
  const std::uint32_t* words;
  const T* table;
  int stride = 1;  // between values of the table

  template <class Thread>
  STRATA_DEVICE T at(Thread& thread, int entry, int row) const {
    const std::uint32_t word = Loads::load(thread, words + entry / per_word * height + row);
    return table[code_in<per_word>(word, entry) * static_cast<unsigned>(stride)];
  }
};

// Where a slice's values are.
template <class T>
struct ValuePlace {
  ValueEncoding encoding;
  const std::byte* block;
  const std::byte* data;
  const T* near_table;
  const T* table;
  int near_stride = 1;  // between values of the near table
};

template <class To>
STRATA_DEVICE const To* at_bytes(const std::byte* from, int bytes) {
  return reinterpret_cast<const To*>(from + bytes);
}

// Any of the encodings, told apart entry by entry; all rows go the same way.
template <class Loads, int height, class T>
class AnyValues {
 public:
  STRATA_DEVICE AnyValues(const ValuePlace<T>& place, int width)
      : encoding_(place.encoding),
        near_table_(place.near_table),
        table_(place.table),
        near_stride_(place.near_stride) {
    if (encoding_ != ValueEncoding::mixed) {
      constants_ = at_bytes<T>(place.block, 0);
      masks_ = at_bytes<std::uint32_t>(place.block, width * static_cast<int>(sizeof(T)));
      full_ = at_bytes<T>(place.data, 0);
      dict16_ = at_bytes<std::uint32_t>(place.data, 0);
      dict8_ = dict16_;
      return;
    }
    const MixedHeader header = *at_bytes<MixedHeader>(place.block, 0);
    constexpr int head = static_cast<int>(sizeof(MixedHeader));
    const int constants = static_cast<int>(header.constants);
    columns_ = at_bytes<std::uint32_t>(place.block, head);
    masks_ = columns_ + width;
    constants_ = at_bytes<T>(place.block, (head + 4 * (width + constants) + 15) / 16 * 16);
    full_ = at_bytes<T>(place.data, 0);
    dict16_ = reinterpret_cast<const std::uint32_t*>(full_ + header.full * height);
    dict8_ = dict16_ + (header.dict16 + 1) / 2 * height;
  }

  template <class Thread>
  STRATA_DEVICE T at(Thread& thread, int entry, int row) const {
    ValueEncoding encoding = encoding_;
    int number = entry;
    if (columns_ != nullptr) {
      const std::uint32_t column = columns_[entry];
      encoding = static_cast<ValueEncoding>(column % 8);
      number = static_cast<int>(column / 8);
    }
    switch (encoding) {
      case ValueEncoding::constant: return constants_[number];
      case ValueEncoding::masked:
        return MaskedValues<T>{constants_, masks_}.at(thread, number, row);
      case ValueEncoding::dict8:
        return CodedValues<Loads, height, 4, T>{dict8_, near_table_, near_stride_}.at(thread,
                                                                                      number, row);
      case ValueEncoding::dict16:
        return CodedValues<Loads, height, 2, T>{dict16_, table_}.at(thread, number, row);
      default: return FullValues<Loads, height, T>{full_}.at(thread, number, row);
    }
  }

 private:
  ValueEncoding encoding_;
  const T* near_table_;
  const T* table_;
  int near_stride_;
  const std::uint32_t* columns_ = nullptr;  // of mixed slices
  const T* constants_;
  const std::uint32_t* masks_;
  const T* full_;
  const std::uint32_t* dict16_;
  const std::uint32_t* dict8_;
};

// body(values) with the values of a slice in their encoding.
template <class Loads, int height, class T, class Body>
STRATA_DEVICE void with_values(const ValuePlace<T>& place, int width, const Body& body) {
  switch (place.encoding) {
    case ValueEncoding::constant: body(ConstantValues<T>{at_bytes<T>(place.block, 0)}); break;
    case ValueEncoding::masked:
      body(MaskedValues<T>{
          at_bytes<T>(place.block, 0),
          at_bytes<std::uint32_t>(place.block, width * static_cast<int>(sizeof(T)))});
      break;
    case ValueEncoding::dict8:
      body(CodedValues<Loads, height, 4, T>{at_bytes<std::uint32_t>(place.data, 0),
                                            place.near_table, place.near_stride});
      break;
    case ValueEncoding::full: body(FullValues<Loads, height, T>{at_bytes<T>(place.data, 0)}); break;
    default: body(AnyValues<Loads, height, T>(place, width)); break;
  }
}

}  // namespace strata::gpu
