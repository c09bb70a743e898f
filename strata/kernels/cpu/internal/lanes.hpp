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

// Whether a register of two halves of others takes one instruction that is no load.
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr bool kShiftsAreCheap = true;
#else
inline constexpr bool kShiftsAreCheap = false;
#endif

// The numbers at these places of two registers one behind the other. Mask has integers of their
// size. (g++ before version 12 lacks the builtin of clang.)
template <class Mask, int... places, class Register>
STRATA_INLINE inline Register shuffled(Register first, Register second) {
#ifdef __clang__
  return __builtin_shufflevector(first, second, places...);
#else
  return __builtin_shuffle(first, second, Mask{places...});
#endif
}

// Compilers move no load across. With many look-ups in a row they would begin with all of them,
// which leaves no registers for the sums.
STRATA_INLINE inline void keep_order() {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// Real numbers use the vector types of g++ and clang, which become whatever instructions the target
// has. Only gathering has none, and gets intrinsics where there are any (masked ones, for g++ takes
// the others' undefined source for a mistake).
template <Value V, int size>
class Lanes {
 public:
  // One by one: copied as a whole, the registers would be in memory all the time. And not as bytes,
  // for which g++ takes general registers where two places store the same.
  STRATA_INLINE void store(V* to) const {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      *reinterpret_cast<RegisterInMemory*>(to + r * kPerRegister) = registers_[r];
    }
  }

  STRATA_INLINE void load(const V* from) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) registers_[r] = loaded(from + r * kPerRegister);
  }

  // Where the factors x of a product come from: lane i has from[i], or from[indices[i]]. They are
  // read register by register, for there is no room for all of them beside the sums.
  struct Direct {
    const V* from;

    STRATA_INLINE auto operator()(int r) const { return loaded(from + r * kPerRegister); }
  };
  template <class IndexType>
  struct Gathered {
    const V* from;
    const IndexType* indices;

    STRATA_INLINE auto operator()(int r) const {
      return gathered(from, indices + r * kPerRegister);
    }
  };

  template <class Factors>
  STRATA_INLINE void multiply_add(const V* values, const Factors& x) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      registers_[r] = fused<V>(loaded(values + r * kPerRegister), x(r), registers_[r]);
    }
  }
  // Whether three products with x side by side are better made together: of a few registers only
  // the inner ones have something to share.
  static constexpr bool kSharesLoads = kShiftsAreCheap && size * sizeof(V) >= 4 * kRegisterBytes;
  // values · x[i − 1], values[height …] · x[i] and values[2·height …] · x[i + 1] in lane i, one
  // after the other. Most of x is loaded once, and shifted: loads of neighbours that are not
  // aligned take as long as two.
  STRATA_INLINE void add_three(const V* values, Offset height, const V* x) {
    Register before = loaded(x - 1);  // as far as the lanes have it
    Register here = loaded(x);
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      const V* const from = x + r * kPerRegister;
      const bool last = r + 1 == kRegisters;
      const Register next = last ? loaded(from + 1) : loaded(from + kPerRegister);
      const Register behind = last ? next : joined<1>(here, next, Places());
      const V* const row = values + r * kPerRegister;
      Register sum = fused<V>(loaded(row), before, registers_[r]);
      sum = fused<V>(loaded(row + height), here, sum);
      registers_[r] = fused<V>(loaded(row + 2 * height), behind, sum);
      before = joined<kPerRegister - 1>(here, next, Places());
      here = next;
    }
  }
  template <class Factors>
  STRATA_INLINE void add_scaled(V factor, const Factors& x) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      registers_[r] = fused<V>(broadcast(factor), x(r), registers_[r]);
    }
  }
  // factor · x in the lanes of the mask, 0 · x in the others. Most masks have few holes, and taking
  // the factor apart costs more than a branch.
  template <class Factors>
  STRATA_INLINE void add_masked(V factor, std::uint32_t mask, const Factors& x) {
    STRATA_UNROLL
    for (int begin = 0; begin < kRegisters; begin += kPerGroup) {
      const std::uint32_t group = mask >> (begin * kPerRegister);
      if ((group & kGroupMask) == kGroupMask) {
        STRATA_UNROLL
        for (int r = begin; r < begin + kPerGroup; ++r) {
          registers_[r] = fused<V>(broadcast(factor), x(r), registers_[r]);
        }
      } else {
        STRATA_UNROLL
        for (int r = begin; r < begin + kPerGroup; ++r) {
          const Register factors = masked(factor, group, r - begin);
          registers_[r] = fused<V>(factors, x(r), registers_[r]);
        }
      }
    }
  }
  // The value of each lane's code · x, where the code of lane i is number `column` in words[i].
  template <class Table, class Factors>
  STRATA_INLINE void add_coded(const Table& table, const std::uint32_t* words, int column,
                               const Factors& x) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      keep_order();
      const auto codes = table.template codes<kPerRegister>(words + r * kPerRegister);
      const auto values = (Register)table.template values<kPerRegister>(codes, column);
      registers_[r] = fused<V>(values, x(r), registers_[r]);
    }
  }
  // The same of columns 0, 1, … one after the other.
  template <int columns, class Table, class Factors>
  STRATA_INLINE void add_coded(const Table& table, const std::uint32_t* words,
                               const Factors (&x)[columns]) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      keep_order();
      const auto codes = table.template codes<kPerRegister>(words + r * kPerRegister);
      STRATA_UNROLL
      for (int column = 0; column < columns; ++column) {
        const auto values = (Register)table.template values<kPerRegister>(codes, column);
        registers_[r] = fused<V>(values, x[column](r), registers_[r]);
      }
    }
  }
  STRATA_INLINE void scale(V factor) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) registers_[r] *= factor;
  }

  // Several sums of zeros, so that they do not wait for each other.
  STRATA_INLINE bool all_finite() const {
    Register zeros[4] = {};
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) zeros[r % 4] += V{} * registers_[r];
    const Register sum = zeros[0] + zeros[1] + (zeros[2] + zeros[3]);
    const Mask nan = sum != sum;
    MaskElement any = 0;
    STRATA_UNROLL
    for (int lane = 0; lane < kPerRegister; ++lane) any |= nan[lane];
    return any == 0;
  }

 private:
  static constexpr int kAllBytes = size * static_cast<int>(sizeof(V));
  static constexpr int kBytes = kAllBytes < kRegisterBytes ? kAllBytes : kRegisterBytes;
  static constexpr int kPerRegister = kBytes / static_cast<int>(sizeof(V));
  static constexpr int kRegisters = size / kPerRegister;
  // Registers whose lanes share a look at a mask.
  static constexpr int kPerGroup = kRegisters < 4 ? 1 : 4 * 16 / kBytes;
  static constexpr std::uint32_t kGroupMask = ~std::uint32_t{0} >> (32 - kPerGroup * kPerRegister);
  using MaskElement = std::conditional_t<sizeof(V) == 8, std::int64_t, std::int32_t>;
  typedef V Register __attribute__((vector_size(kBytes)));
  typedef V RegisterInMemory __attribute__((vector_size(kBytes), aligned(alignof(V)), may_alias));
  typedef MaskElement Mask __attribute__((vector_size(kBytes)));

  STRATA_INLINE static Register loaded(const V* from) {
    Register numbers;
    __builtin_memcpy(&numbers, from, sizeof numbers);
    return numbers;
  }
  // Elements from the first on of two registers one behind the other.
  using Places = std::make_integer_sequence<int, kPerRegister>;
  template <int first, int... place>
  STRATA_INLINE static Register joined(Register low, Register high,
                                       std::integer_sequence<int, place...>) {
    return shuffled<Mask, (first + place)...>(low, high);
  }
  STRATA_INLINE static Register broadcast(V number) { return number - Register{}; }
  // The number in the lanes of register r of a mask.
  STRATA_INLINE static Register masked(V number, std::uint32_t mask, int r) {
    Mask bits{};
    STRATA_UNROLL
    for (int lane = 0; lane < kPerRegister; ++lane) {
      bits[lane] = MaskElement{1} << (r * kPerRegister + lane);
    }
    const Mask here = (bits & (static_cast<MaskElement>(mask) - Mask{})) != 0;
    return (Register)((Mask)broadcast(number) & here);
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
    Register numbers{};
    STRATA_UNROLL
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

  static constexpr bool kSharesLoads = false;

  STRATA_INLINE void store(V* to) const {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      const Parts& parts = parts_[r];
      const Register first = rearranged<joined_source, 0>(parts.real, parts.imaginary, kAll);
      const Register second = rearranged<joined_source, 1>(parts.real, parts.imaginary, kAll);
      char* place = reinterpret_cast<char*>(to + r * kPerRegister);
      __builtin_memcpy(place, &first, sizeof first);
      __builtin_memcpy(place + sizeof first, &second, sizeof second);
    }
  }
  STRATA_INLINE void load(const V* from) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) parts_[r] = loaded(from + r * kPerRegister);
  }
  struct Direct {
    const V* from;

    STRATA_INLINE auto operator()(int r) const { return loaded(from + r * kPerRegister); }
  };
  template <class IndexType>
  struct Gathered {
    const V* from;
    const IndexType* indices;

    STRATA_INLINE auto operator()(int r) const {
      const IndexType* first = indices + r * kPerRegister;
      return split(gathered(from, first), gathered(from, first + kPerRegister / 2));
    }
  };

  template <class Factors>
  STRATA_INLINE void multiply_add(const V* values, const Factors& x) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      add_product(loaded(values + r * kPerRegister), x(r), parts_[r]);
    }
  }
  template <class Factors>
  STRATA_INLINE void add_scaled(Complex<R> factor, const Factors& x) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) add_product(broadcast(factor), x(r), parts_[r]);
  }
  template <class Factors>
  STRATA_INLINE void add_masked(Complex<R> factor, std::uint32_t mask, const Factors& x) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      add_product(masked(factor, mask, r), x(r), parts_[r]);
    }
  }
  template <class Table, class Factors>
  STRATA_INLINE void add_coded(const Table& table, const std::uint32_t* words, int column,
                               const Factors& x) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      keep_order();
      add_product(coded(table, words + r * kPerRegister, column), x(r), parts_[r]);
    }
  }
  template <int columns, class Table, class Factors>
  STRATA_INLINE void add_coded(const Table& table, const std::uint32_t* words,
                               const Factors (&x)[columns]) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      keep_order();
      STRATA_UNROLL
      for (int column = 0; column < columns; ++column) {
        add_product(coded(table, words + r * kPerRegister, column), x[column](r), parts_[r]);
      }
    }
  }
  STRATA_INLINE void scale(Complex<R> factor) {
    STRATA_UNROLL
    for (int r = 0; r < kRegisters; ++r) {
      Parts scaled{};
      add_product(broadcast(factor), parts_[r], scaled);
      parts_[r] = scaled;
    }
  }

  STRATA_INLINE bool all_finite() const {
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

  template <class Table>
  STRATA_INLINE static Parts coded(const Table& table, const std::uint32_t* words, int column) {
    std::uint32_t codes[kPerRegister];
    STRATA_UNROLL
    for (int lane = 0; lane < kPerRegister; ++lane) codes[lane] = table.code(words[lane], column);
    return split(gathered(table.numbers(), codes),
                 gathered(table.numbers(), codes + kPerRegister / 2));
  }

  // In the order in which numbers are multiplied and added one by one.
  STRATA_INLINE static void add_product(const Parts& a, const Parts& b, Parts& sum) {
    sum.real = fused<R>(-a.imaginary, b.imaginary, fused<R>(a.real, b.real, sum.real));
    sum.imaginary = fused<R>(a.imaginary, b.real, fused<R>(a.real, b.imaginary, sum.imaginary));
  }
  STRATA_INLINE static Parts broadcast(Complex<R> number) {
    return {number.real - Register{}, number.imaginary - Register{}};
  }
  // The number in the lanes of register r of a mask, in the order that split() gives them.
  STRATA_INLINE static Parts masked(Complex<R> number, std::uint32_t mask, int r) {
    Mask bits{};
    STRATA_UNROLL
    for (int lane = 0; lane < kPerRegister; ++lane) {
      bits[lane] = MaskElement{1} << (r * kPerRegister + split_source(0, lane) / 2);
    }
    const Mask here = (bits & (static_cast<MaskElement>(mask) - Mask{})) != 0;
    const Parts parts = broadcast(number);
    return {(Register)((Mask)parts.real & here), (Register)((Mask)parts.imaginary & here)};
  }

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
  static Register rearranged(Register first, Register second, std::integer_sequence<int, lane...>) {
    return shuffled<Mask, source(which, lane)...>(first, second);
  }

  static Parts split(Register first, Register second) {
    return {rearranged<split_source, 0>(first, second, kAll),
            rearranged<split_source, 1>(first, second, kAll)};
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
      WholeNumbers numbers{};
      STRATA_UNROLL
      for (int n = 0; n < kPerRegister / 2; ++n) {
        WholeNumber number;
        __builtin_memcpy(&number, from + indices[n], sizeof number);
        numbers[n] = number;
      }
      return (Register)numbers;
    } else {
      Register numbers{};
      STRATA_UNROLL
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
