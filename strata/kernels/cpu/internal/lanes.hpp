// Lanes: the numbers of the rows of a slice, side by side in vector registers.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "strata/base/types.hpp"
#include "strata/kernels/cpu/internal/fused.hpp"
#include "strata/kernels/cpu/internal/numbers.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

#if defined(__AVX512F__)
inline constexpr int kRegisterBytes = 64;
#elif defined(__AVX__)
inline constexpr int kRegisterBytes = 32;
#else
inline constexpr int kRegisterBytes = 16;
#endif

// Real numbers use the vector types of g++ and clang, which become whatever instructions the target
// has. Only gathering has none, and gets intrinsics where there are any (masked ones, for g++ takes
// the others' undefined source for a mistake).
template <Value V, int size>
class Lanes {
 public:
  void load(const V* from) {
    for (int r = 0; r < kRegisters; ++r) registers_[r] = loaded(from + r * kPerRegister);
  }
  // One by one: copied as a whole, the registers would be in memory all the time.
  void store(V* to) const {
    for (int r = 0; r < kRegisters; ++r) {
      __builtin_memcpy(to + r * kPerRegister, &registers_[r], sizeof(Register));
    }
  }

  // Lane i becomes from[indices[i]].
  template <class IndexType>
  void gather(const V* from, const IndexType* indices) {
    for (int r = 0; r < kRegisters; ++r) {
      registers_[r] = gathered(from, indices + r * kPerRegister);
    }
  }

  void multiply_add(const V* values, const Lanes& x) {
    for (int r = 0; r < kRegisters; ++r) {
      registers_[r] = fused<V>(loaded(values + r * kPerRegister), x.registers_[r], registers_[r]);
    }
  }
  void add_scaled(V factor, const Lanes& x) {
    for (int r = 0; r < kRegisters; ++r) {
      registers_[r] = fused<V>(broadcast(factor), x.registers_[r], registers_[r]);
    }
  }
  void add_scaled(V factor, const V* from) {
    for (int r = 0; r < kRegisters; ++r) {
      registers_[r] = fused<V>(broadcast(factor), loaded(from + r * kPerRegister), registers_[r]);
    }
  }
  // factor · x in the lanes of the mask, 0 · x in the others.
  void add_masked(V factor, std::uint32_t mask, const Lanes& x) {
    for (int r = 0; r < kRegisters; ++r) {
      const Mask bits = lane_bits();
      const Mask here = (bits & static_cast<MaskElement>(mask >> (r * kPerRegister))) == bits;
      const auto factors = (Register)((Mask)broadcast(factor) & here);
      registers_[r] = fused<V>(factors, x.registers_[r], registers_[r]);
    }
  }
  // table[code] · x, where lane i has its code in words[i], from bit `shift` on.
  template <int bits>
  void add_coded(const V* table, const std::uint32_t* words, int shift, const Lanes& x) {
    for (int r = 0; r < kRegisters; ++r) {
      Register factors;
      for (int lane = 0; lane < kPerRegister; ++lane) {
        factors[lane] = table[words[r * kPerRegister + lane] >> shift & ((1u << bits) - 1)];
      }
      registers_[r] = fused<V>(factors, x.registers_[r], registers_[r]);
    }
  }
  void scale(V factor) {
    for (int r = 0; r < kRegisters; ++r) registers_[r] *= factor;
  }

  bool all_finite() const {
    Register zeros{};
    for (int r = 0; r < kRegisters; ++r) zeros += V{} * registers_[r];
    const Mask nan = zeros != zeros;
    MaskElement any = 0;
    for (int lane = 0; lane < kPerRegister; ++lane) any |= nan[lane];
    return any == 0;
  }

 private:
  static constexpr int kAllBytes = size * static_cast<int>(sizeof(V));
  static constexpr int kBytes = kAllBytes < kRegisterBytes ? kAllBytes : kRegisterBytes;
  static constexpr int kPerRegister = kBytes / static_cast<int>(sizeof(V));
  static constexpr int kRegisters = size / kPerRegister;
  using MaskElement = std::conditional_t<sizeof(V) == 8, std::int64_t, std::int32_t>;
  typedef V Register __attribute__((vector_size(kBytes)));
  typedef MaskElement Mask __attribute__((vector_size(kBytes)));

  static Register loaded(const V* from) {
    Register numbers;
    __builtin_memcpy(&numbers, from, sizeof numbers);
    return numbers;
  }
  static Register broadcast(V number) { return number - Register{}; }
  static Mask lane_bits() {
    Mask bits;
    for (int lane = 0; lane < kPerRegister; ++lane) bits[lane] = MaskElement{1} << lane;
    return bits;
  }

#ifdef __AVX2__
  // 4, 8 or 16 indices as 32-bit numbers.
  static auto widened(const std::int32_t* indices) {
    typedef std::int32_t Indices __attribute__((vector_size(kPerRegister * 4)));
    Indices loaded;
    __builtin_memcpy(&loaded, indices, sizeof loaded);
    return loaded;
  }
  template <class Narrow>
  static auto widened(const Narrow* indices) {
    static_assert(sizeof(Narrow) <= 2 && std::is_unsigned_v<Narrow>);
    __m256i bytes{};
    __builtin_memcpy(&bytes, indices, kPerRegister * sizeof(Narrow));
    const __m128i low = _mm256_castsi256_si128(bytes);
    constexpr bool kBytesOnly = sizeof(Narrow) == 1;
    if constexpr (kPerRegister == 4) {
      return kBytesOnly ? _mm_cvtepu8_epi32(low) : _mm_cvtepu16_epi32(low);
    } else if constexpr (kPerRegister == 8) {
      return kBytesOnly ? _mm256_cvtepu8_epi32(low) : _mm256_cvtepu16_epi32(low);
    } else {
#ifdef __AVX512F__
      return kBytesOnly ? _mm512_maskz_cvtepu8_epi32(0xffff, low)
                        : _mm512_maskz_cvtepu16_epi32(0xffff, bytes);
#endif
    }
  }
#endif

  template <class IndexType>
  static Register gathered(const V* from, const IndexType* indices) {
#ifdef __AVX2__
    if constexpr (sizeof(IndexType) <= 4 && kBytes == 32) {
      if constexpr (sizeof(V) == 8) {
        return (Register)_mm256_mask_i32gather_pd(__m256d{}, from, (__m128i)widened(indices),
                                                  (__m256d)_mm256_set1_epi64x(-1), 8);
      } else {
        return (Register)_mm256_mask_i32gather_ps(__m256{}, from, (__m256i)widened(indices),
                                                  (__m256)_mm256_set1_epi64x(-1), 4);
      }
    }
#endif
#ifdef __AVX512F__
    if constexpr (sizeof(IndexType) <= 4 && kBytes == 64) {
      if constexpr (sizeof(V) == 8) {
        return (Register)_mm512_mask_i32gather_pd(__m512d{}, 0xff, (__m256i)widened(indices), from,
                                                  8);
      } else {
        return (Register)_mm512_mask_i32gather_ps(__m512{}, 0xffff, (__m512i)widened(indices), from,
                                                  4);
      }
    }
#endif
    Register numbers;
    for (int lane = 0; lane < kPerRegister; ++lane) numbers[lane] = from[indices[lane]];
    return numbers;
  }

  Register registers_[kRegisters] = {};
};

// Real and imaginary parts are in registers of their own. They are taken apart and put together
// again inside blocks of 16 bytes, one instruction everywhere; in wider registers, lanes are
// therefore in an order of their own between load and store.
template <class R, int size>
class Lanes<std::complex<R>, size> {
 public:
  using V = std::complex<R>;

  void load(const V* from) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) parts_[r] = loaded(from + r * kPerRegister);
  }
  void store(V* to) const {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      const Parts& parts = parts_[r];
      const Register first = shuffled<joined_source, 0>(parts.real, parts.imaginary, kAll);
      const Register second = shuffled<joined_source, 1>(parts.real, parts.imaginary, kAll);
      char* place = reinterpret_cast<char*>(to + r * kPerRegister);
      __builtin_memcpy(place, &first, sizeof first);
      __builtin_memcpy(place + sizeof first, &second, sizeof second);
    }
  }
  // Lane i becomes from[indices[i]].
  template <class IndexType>
  void gather(const V* from, const IndexType* indices) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      const IndexType* first = indices + r * kPerRegister;
      parts_[r] = split(gathered(from, first), gathered(from, first + kPerRegister / 2));
    }
  }

  void multiply_add(const V* values, const Lanes& x) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      const Parts a = loaded(values + r * kPerRegister);
      add_product(a.real, a.imaginary, x.parts_[r], parts_[r]);
    }
  }
  void add_scaled(Complex<R> factor, const Lanes& x) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      add_product(broadcast(factor.real), broadcast(factor.imaginary), x.parts_[r], parts_[r]);
    }
  }
  void add_scaled(Complex<R> factor, const V* from) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      add_product(broadcast(factor.real), broadcast(factor.imaginary),
                  loaded(from + r * kPerRegister), parts_[r]);
    }
  }
  void add_masked(Complex<R> factor, std::uint32_t mask, const Lanes& x) {
    add_each([&](int lane) { return mask >> lane & 1 ? factor : Complex<R>{}; }, x);
  }
  template <int bits>
  void add_coded(const V* table, const std::uint32_t* words, int shift, const Lanes& x) {
    add_each(
        [&](int lane) {
          return STRATA_CPU_LEVEL::loaded(table + (words[lane] >> shift & ((1u << bits) - 1)));
        },
        x);
  }
  void scale(Complex<R> factor) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      Parts scaled{};
      add_product(broadcast(factor.real), broadcast(factor.imaginary), parts_[r], scaled);
      parts_[r] = scaled;
    }
  }

  bool all_finite() const {
    Register zeros{};
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      zeros += R{} * parts_[r].real;
      zeros += R{} * parts_[r].imaginary;
    }
    const Mask nan = zeros != zeros;
    MaskElement any = 0;
    for (int lane = 0; lane < kPerRegister; ++lane) any |= nan[lane];
    return any == 0;
  }

 private:
  static constexpr int kAllBytes = size * static_cast<int>(sizeof(R));
  static constexpr int kBytes = kAllBytes < kRegisterBytes ? kAllBytes : kRegisterBytes;
  static constexpr int kPerRegister = kBytes / static_cast<int>(sizeof(R));
  static constexpr int kRegisters = size / kPerRegister;
  static constexpr int kPerBlock = 16 / static_cast<int>(sizeof(R));
  static constexpr std::make_integer_sequence<int, kPerRegister> kAll{};
  using MaskElement = std::conditional_t<sizeof(R) == 8, std::int64_t, std::int32_t>;
  typedef R Register __attribute__((vector_size(kBytes)));
  typedef MaskElement Mask __attribute__((vector_size(kBytes)));
  // Both parts of a complex<float> at once.
  using WholeNumber = std::conditional_t<sizeof(R) == 4, std::int64_t, R>;
  typedef WholeNumber WholeNumbers __attribute__((vector_size(kBytes)));

  struct Parts {
    Register real;
    Register imaginary;
  };

  // number_of(lane) · x.
  template <class NumberOfLane>
  [[gnu::always_inline]] void add_each(const NumberOfLane& number_of, const Lanes& x) {
    alignas(V) char numbers[size * sizeof(V)];
    for (int lane = 0; lane < size; ++lane) {
      STRATA_CPU_LEVEL::store(reinterpret_cast<V*>(numbers) + lane, number_of(lane));
    }
    multiply_add(reinterpret_cast<const V*>(numbers), x);
  }

  // In the order in which numbers are multiplied and added one by one.
  static void add_product(Register real, Register imaginary, const Parts& b, Parts& sum) {
    sum.real = fused<R>(-imaginary, b.imaginary, fused<R>(real, b.real, sum.real));
    sum.imaginary = fused<R>(imaginary, b.real, fused<R>(real, b.imaginary, sum.imaginary));
  }
  static Register broadcast(R number) { return number - Register{}; }

  // Where lane i of the real (0) or imaginary (1) parts of two registers full of numbers is, and
  // where lane i of the first (0) or second (1) of these is in the parts; lanes of the second
  // register count on from those of the first.
  static constexpr int split_source(int part, int i) {
    const int block = i - i % kPerBlock;
    const int place = i % kPerBlock * 2 + part;
    return block + (place < kPerBlock ? place : place - kPerBlock + kPerRegister);
  }
  static constexpr int joined_source(int half, int i) {
    const int block = i - i % kPerBlock;
    return block + half * kPerBlock / 2 + i % kPerBlock / 2 + i % 2 * kPerRegister;
  }
  template <int source(int, int), int which, int... lane>
  static Register shuffled(Register first, Register second, std::integer_sequence<int, lane...>) {
#ifdef __clang__
    return __builtin_shufflevector(first, second, source(which, lane)...);
#else
    return __builtin_shuffle(first, second, Mask{static_cast<MaskElement>(source(which, lane))...});
#endif
  }

  static Parts split(Register first, Register second) {
    return {shuffled<split_source, 0>(first, second, kAll),
            shuffled<split_source, 1>(first, second, kAll)};
  }
  static Parts loaded(const V* from) {
    Register first;
    Register second;
    __builtin_memcpy(&first, from, sizeof first);
    __builtin_memcpy(&second, from + kPerRegister / 2, sizeof second);
    return split(first, second);
  }
  // A register full of numbers.
  template <class IndexType>
  static Register gathered(const V* from, const IndexType* indices) {
    if constexpr (sizeof(V) == kBytes) {
      Register number;
      __builtin_memcpy(&number, from + indices[0], sizeof number);
      return number;
    } else if constexpr (sizeof(V) == 8) {
      WholeNumbers numbers;
      for (int n = 0; n < kPerRegister / 2; ++n) {
        WholeNumber number;
        __builtin_memcpy(&number, from + indices[n], sizeof number);
        numbers[n] = number;
      }
      return (Register)numbers;
    } else {
      Register numbers;
      for (int n = 0; n < kPerRegister / 2; ++n) {
        const Complex<R> number = STRATA_CPU_LEVEL::loaded(from + indices[n]);
        numbers[2 * n] = number.real;
        numbers[2 * n + 1] = number.imaginary;
      }
      return numbers;
    }
  }

  Parts parts_[kRegisters] = {};
};

}  // namespace strata::cpu::STRATA_CPU_LEVEL
