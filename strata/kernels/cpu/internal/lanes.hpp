// Lanes: the numbers of the rows of a slice, side by side in vector registers.
#pragma once

#include <cstdint>
#include <type_traits>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "strata/base/types.hpp"
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
  void store(V* to) const { __builtin_memcpy(to, registers_, sizeof registers_); }
  void copy_to(V* numbers) const { store(numbers); }

  // Lane i becomes from[indices[i]].
  template <class IndexType>
  void gather(const V* from, const IndexType* indices) {
    for (int r = 0; r < kRegisters; ++r) {
      registers_[r] = gathered(from, indices + r * kPerRegister);
    }
  }

  void multiply_add(const V* values, const Lanes& x) {
    for (int r = 0; r < kRegisters; ++r) {
      registers_[r] += loaded(values + r * kPerRegister) * x.registers_[r];
    }
  }
  void add_scaled(V factor, const V* from) {
    for (int r = 0; r < kRegisters; ++r) {
      registers_[r] += factor * loaded(from + r * kPerRegister);
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

template <class R, int size>
class Lanes<std::complex<R>, size> {
 public:
  using V = std::complex<R>;

  void load(const V* from) {
    STRATA_KEEP_LOOP
    for (int lane = 0; lane < size; ++lane) numbers_[lane] = loaded(from + lane);
  }
  void store(V* to) const {
    STRATA_KEEP_LOOP
    for (int lane = 0; lane < size; ++lane) STRATA_CPU_LEVEL::store(to + lane, numbers_[lane]);
  }
  void copy_to(Complex<R>* numbers) const { __builtin_memcpy(numbers, numbers_, sizeof numbers_); }
  template <class IndexType>
  void gather(const V* from, const IndexType* indices) {
    STRATA_KEEP_LOOP
    for (int lane = 0; lane < size; ++lane) numbers_[lane] = loaded(from + indices[lane]);
  }
  void multiply_add(const V* values, const Lanes& x) {
    STRATA_KEEP_LOOP
    for (int lane = 0; lane < size; ++lane) {
      numbers_[lane] =
          STRATA_CPU_LEVEL::multiply_add(loaded(values + lane), x.numbers_[lane], numbers_[lane]);
    }
  }
  void add_scaled(Complex<R> factor, const V* from) {
    STRATA_KEEP_LOOP
    for (int lane = 0; lane < size; ++lane) {
      numbers_[lane] = STRATA_CPU_LEVEL::multiply_add(factor, loaded(from + lane), numbers_[lane]);
    }
  }
  void scale(Complex<R> factor) {
    STRATA_KEEP_LOOP
    for (Complex<R>& number : numbers_) {
      number = STRATA_CPU_LEVEL::multiply_add(factor, number, Complex<R>{});
    }
  }
  bool all_finite() const {
    bool finite = true;
    STRATA_KEEP_LOOP
    for (const Complex<R>& number : numbers_) finite &= is_finite(number);
    return finite;
  }

 private:
  Complex<R> numbers_[size] = {};
};

}  // namespace strata::cpu::STRATA_CPU_LEVEL
