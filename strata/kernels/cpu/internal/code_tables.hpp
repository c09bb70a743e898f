// Tables that turn the codes of dict8 and dict16 (formats/value_encoding.hpp) into registers full
// of values. How many look-ups that takes is what coded values cost, so there are three kinds:
//
//   SingleTable    the values as they are, one look-up per lane
//   PairTable      up to 32 real values: all pairs of them, one look-up for two lanes
//   PermuteTable   up to 17 doubles or 32 floats in AVX-512 registers, one permute for all lanes
//
// Each has
//
//   table.codes<lanes>(words)            the codes in a word per lane, ready for values()
//   table.values<lanes>(codes, column)   the values of code number `column` in each word
//
// and the first, which complex numbers use, code(word, column) and numbers() instead of these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#ifdef __AVX__
#include <immintrin.h>
#endif

#include "strata/base/types.hpp"
#include "strata/kernels/cpu/internal/numbers.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

// A register of `bytes` from its blocks of 16 bytes. Written out where it takes more than one:
// compilers put them together in memory. (Masked as in lanes.hpp.)
template <int bytes, class Block>
STRATA_INLINE inline auto joined(const Block* blocks) {
  if constexpr (bytes == 16) {
    return blocks[0];
#ifdef __AVX__
  } else if constexpr (bytes == 32) {
    return _mm256_insertf128_si256(_mm256_castsi128_si256((__m128i)blocks[0]), (__m128i)blocks[1],
                                   1);
#endif
#ifdef __AVX512F__
  } else {
    static_assert(bytes == 64);
    return _mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(joined<32>(blocks)),
                                    joined<32>(blocks + 2), 1);
#endif
  }
}

// The words of two lanes, that of the first in the low half.
STRATA_INLINE inline std::uint64_t two_words(const std::uint32_t* words) {
  return words[0] | std::uint64_t{words[1]} << 32;
}

template <Value V, int bits>
class SingleTable {
 public:
  explicit SingleTable(const V* numbers) : numbers_(numbers) {}

  const V* numbers() const { return numbers_; }
  STRATA_INLINE static std::uint32_t code(std::uint32_t word, int column) {
    return word >> (column * bits) & kMask;
  }

  template <int lanes>
  struct Codes {
    std::uint64_t pairs[lanes / 2];
  };
  template <int lanes>
  STRATA_INLINE Codes<lanes> codes(const std::uint32_t* words) const {
    Codes<lanes> codes;
    STRATA_UNROLL
    for (int p = 0; p < lanes / 2; ++p) codes.pairs[p] = two_words(words + 2 * p);
    return codes;
  }
  template <int lanes>
  STRATA_INLINE auto values(const Codes<lanes>& codes, int column) const {
    typedef V Block __attribute__((vector_size(16)));
    constexpr int kPerBlock = 16 / static_cast<int>(sizeof(V));
    Block blocks[lanes / kPerBlock];
    STRATA_UNROLL
    for (int b = 0; b < lanes / kPerBlock; ++b) {
      const auto number = [&](int lane) STRATA_INLINE {
        const int shift = lane % 2 * 32 + column * bits;
        return numbers_[codes.pairs[b * kPerBlock / 2 + lane / 2] >> shift & kMask];
      };
      if constexpr (kPerBlock == 2) {
        blocks[b] = Block{number(0), number(1)};
      } else {
        blocks[b] = Block{number(0), number(1), number(2), number(3)};
      }
    }
    return joined<lanes* static_cast<int>(sizeof(V))>(blocks);
  }

 private:
  static constexpr std::uint32_t kMask = (std::uint32_t{1} << bits) - 1;

  const V* numbers_;
};

// Codes have 8 bits, of which 5 count. Those of the second of two lanes are moved beside those of
// the first, so that 10 bits name the pair; every other column, so that there is room for them.
template <Value V>
class PairTable {
 public:
  static constexpr Offset kMostValues = 32;

  void fill(const V* numbers, Offset size) {
    for (Offset second = 0; second < size; ++second) {
      for (Offset first = 0; first < size; ++first) {
        V* pair = pairs_ + 2 * (second * kMostValues + first);
        pair[0] = numbers[first];
        pair[1] = numbers[second];
      }
    }
  }
  // Whether so many rows are worth the table: filling it takes the time of some of them.
  static bool pays(Offset size, Offset rows) {
    return size <= kMostValues && 4 * size * size <= rows;
  }

  template <int lanes>
  struct Codes {
    std::uint64_t even[lanes / 2];
    std::uint64_t odd[lanes / 2];
  };
  template <int lanes>
  STRATA_INLINE Codes<lanes> codes(const std::uint32_t* words) const {
    Codes<lanes> codes;
    STRATA_UNROLL
    for (int p = 0; p < lanes / 2; ++p) {
      const std::uint64_t pair = two_words(words + 2 * p);
      codes.even[p] = beside(pair);
      codes.odd[p] = beside(pair >> 8);
    }
    return codes;
  }
  template <int lanes>
  STRATA_INLINE auto values(const Codes<lanes>& codes, int column) const {
    constexpr int kPerBlock = 16 / static_cast<int>(sizeof(V));
    // As integers, which take whole pairs at once.
    typedef std::int64_t Block __attribute__((vector_size(16)));
    Block blocks[lanes / kPerBlock];
    STRATA_UNROLL
    for (int b = 0; b < lanes / kPerBlock; ++b) {
      const auto pair = [&](int p) STRATA_INLINE {
        const int number = b * kPerBlock / 2 + p;
        const std::uint64_t both = column % 2 == 0 ? codes.even[number] : codes.odd[number];
        return pairs_ + 2 * (both >> (column / 2 * 16) & kPairMask);
      };
      if constexpr (kPerBlock == 2) {
        __builtin_memcpy(&blocks[b], pair(0), sizeof(Block));
      } else {
        std::int64_t halves[2];
        __builtin_memcpy(&halves[0], pair(0), sizeof halves[0]);
        __builtin_memcpy(&halves[1], pair(1), sizeof halves[1]);
        blocks[b] = Block{halves[0], halves[1]};
      }
    }
    return joined<lanes* static_cast<int>(sizeof(V))>(blocks);
  }

 private:
  static constexpr std::uint64_t kPairMask = kMostValues * kMostValues - 1;

  STRATA_INLINE static std::uint64_t beside(std::uint64_t pair) {
    const std::uint64_t codes = pair & 0x001f'001f'001f'001fu;
    return codes | codes >> 27;
  }

  alignas(64) V pairs_[2 * kMostValues * kMostValues];
};

#ifdef __AVX512F__
// The bits of a code that a permute looks at are its lowest 4 (doubles) or 5 (floats). Of doubles
// there may be a 17th, whose code has bit 4: 16 values have a table with a zero for holes, too.
template <Value V, bool with_17th>
class PermuteTable {
 public:
  static constexpr bool kDoubles = sizeof(V) == sizeof(double);
  static constexpr Offset kMostValues = kDoubles ? 16 + with_17th : 32;

  void fill(const V* numbers, Offset size) {
    V all[2 * kPerRegister + 1] = {};
    for (Offset i = 0; i < size; ++i) all[i] = numbers[i];
    __builtin_memcpy(&low_, all, sizeof low_);
    __builtin_memcpy(&high_, all + kPerRegister, sizeof high_);
    last_ = all[2 * kPerRegister] - Register{};
  }
  static bool pays(Offset size, Offset /*rows*/) { return size <= kMostValues; }

  template <int lanes>
  STRATA_INLINE __m512i codes(const std::uint32_t* words) const {
    static_assert(lanes == kPerRegister);
    if constexpr (kDoubles) {
      return _mm512_maskz_cvtepu32_epi64(
          0xff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words)));
    } else {
      return _mm512_loadu_si512(words);
    }
  }
  template <int lanes>
  STRATA_INLINE auto values(__m512i codes, int column) const {
    if constexpr (kDoubles) {
      typedef std::uint64_t Codes __attribute__((vector_size(64)));
      const auto own = (__m512i)((Codes)codes >> (8 * column));
      const __m512d found = _mm512_permutex2var_pd((__m512d)low_, own, (__m512d)high_);
      if constexpr (with_17th) {
        const __mmask8 is_17th = _mm512_test_epi64_mask(own, _mm512_set1_epi64(16));
        return _mm512_mask_mov_pd(found, is_17th, (__m512d)last_);
      } else {
        return found;
      }
    } else {
      typedef std::uint32_t Codes __attribute__((vector_size(64)));
      const auto own = (__m512i)((Codes)codes >> (8 * column));
      return _mm512_permutex2var_ps((__m512)low_, own, (__m512)high_);
    }
  }

 private:
  static constexpr int kPerRegister = 64 / static_cast<int>(sizeof(V));
  typedef V Register __attribute__((vector_size(64)));

  Register low_;
  Register high_;
  Register last_;
};
#endif

// The tables of a matrix. Those of few values are filled only if their look-ups on so many rows
// save the time that this takes.
template <Value V>
class CodeTables {
 public:
  CodeTables(const V* numbers, Offset size, Offset rows) : numbers_(numbers) {
    if constexpr (!is_complex<V>) {
      if (size == 0) return;
      if (Few::pays(size, rows)) {
        few_.fill(numbers, size);
        kind_ = Kind::few;
#ifdef __AVX512F__
      } else if (FewAndOne::pays(size, rows)) {
        few_and_one_.fill(numbers, size);
        kind_ = Kind::few_and_one;
#endif
      }
    }
  }

  // body(table) with the fastest one for 8 bits per code and so many lanes.
  template <int lanes, class Body>
  STRATA_INLINE void with_fastest(const Body& body) const {
    if constexpr (!is_complex<V> && lanes % kFewLanes == 0) {
#ifdef __AVX512F__
      // Copies, which stay in registers.
      if (kind_ == Kind::few) return body(Few(few_));
      if (kind_ == Kind::few_and_one) return body(FewAndOne(few_and_one_));
#else
      if (kind_ == Kind::few) return body(few_);
#endif
    }
    body(SingleTable<V, 8>(numbers_));
  }

 private:
  enum class Kind { single, few, few_and_one };
  struct None {};
#ifdef __AVX512F__
  using Few = std::conditional_t<is_complex<V>, None, PermuteTable<V, false>>;
  using FewAndOne = std::conditional_t<is_complex<V>, None, PermuteTable<V, true>>;
  static constexpr int kFewLanes = 64 / static_cast<int>(sizeof(V));
  FewAndOne few_and_one_;
#else
  using Few = std::conditional_t<is_complex<V>, None, PairTable<V>>;
  static constexpr int kFewLanes = 2;
#endif
  Few few_;
  const V* numbers_;
  Kind kind_ = Kind::single;
};

}  // namespace strata::cpu::STRATA_CPU_LEVEL
