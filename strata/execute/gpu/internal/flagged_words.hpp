// Elements of a sweep in which values are flags, as they are loaded, told from the flag, and stored
// (flagged_block.hpp). For compilers of device code alone.
#pragma once

#include <cstdint>

#include "strata/execute/gpu/flagged_tile.hpp"
#include "strata/execute/gpu/internal/hopper.hpp"
#include "strata/kernels/gpu/value.hpp"

namespace strata::gpu::hopper {

// A pointer that is not taken apart: a distance is added to it in one instruction.
template <class T>
__device__ __forceinline__ const T* as_it_is(const T* pointer) {
  asm("" : "+l"(pointer));
  return pointer;
}

// Sixteen bytes, or one element, as they are loaded.
struct alignas(16) Words {
  std::uint64_t w[2];
};

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<Complex<R>> {
  using type = R;
};
template <class T>
inline constexpr bool kWide = sizeof(typename RealOf<T>::type) == 8;

// Of doubles the upper half tells. Here and where many of these are put together, `|` instead of
// `||`: short circuits are branches, and lanes take different ones.
template <class T>
__device__ __forceinline__ bool has_flag(std::uint64_t word) {
  if constexpr (kWide<T>) return static_cast<std::uint32_t>(word >> 32) == kFlagUpper;
  return (static_cast<std::uint32_t>(word) == kFlag32) |
         (static_cast<std::uint32_t>(word >> 32) == kFlag32);
}
template <class T>
__device__ __forceinline__ bool has_flag(const Words& words) {
  return has_flag<T>(words.w[0]) | has_flag<T>(words.w[1]);
}

template <class T>
__device__ __forceinline__ T element(const Words& words, int e) {
  if constexpr (sizeof(T) == 16) {
    return {__longlong_as_double(static_cast<long long>(words.w[0])),
            __longlong_as_double(static_cast<long long>(words.w[1]))};
  } else if constexpr (sizeof(T) == 4) {
    return __uint_as_float(static_cast<std::uint32_t>(words.w[e / 2] >> (32 * (e % 2))));
  } else if constexpr (kWide<T>) {
    return __longlong_as_double(static_cast<long long>(words.w[e]));
  } else {
    return {__uint_as_float(static_cast<std::uint32_t>(words.w[e])),
            __uint_as_float(static_cast<std::uint32_t>(words.w[e] >> 32))};
  }
}

__device__ __forceinline__ std::uint64_t without_flag(double value) {
  const auto bits = static_cast<std::uint64_t>(__double_as_longlong(value));
  return has_flag<double>(bits) ? bits | std::uint64_t{1} << 51 : bits;
}
__device__ __forceinline__ std::uint32_t without_flag(float value) {
  const std::uint32_t bits = __float_as_uint(value);
  return bits == kFlag32 ? bits | std::uint32_t{1} << 22 : bits;
}
// Puts an element, without the flag, where element() finds it.
template <class T>
__device__ __forceinline__ void set_element(Words& words, int e, T value) {
  if constexpr (sizeof(T) == 16) {
    words.w[0] = without_flag(value.re);
    words.w[1] = without_flag(value.im);
  } else if constexpr (sizeof(T) == 4) {
    const std::uint64_t bits = without_flag(value);
    words.w[e / 2] = e % 2 == 0 ? bits : words.w[e / 2] | bits << 32;
  } else if constexpr (kWide<T>) {
    words.w[e] = without_flag(value);
  } else {
    words.w[e] = without_flag(value.re) | std::uint64_t{without_flag(value.im)} << 32;
  }
}

__device__ __forceinline__ void load_words(const void* from, Words& to) {
  asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];"
               : "=l"(to.w[0]), "=l"(to.w[1])
               : "l"(from)
               : "memory");
}
// If it is wanted; all are in flight together.
__device__ __forceinline__ void load_if(bool wanted, const void* from, Words& to) {
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %3, 0;\n\t"
      "@p ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];\n\t}"
      : "+l"(to.w[0]), "+l"(to.w[1])
      : "l"(from), "r"(static_cast<int>(wanted))
      : "memory");
}
__device__ __forceinline__ void load_if(bool wanted, const void* from, std::uint64_t& to) {
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %2, 0;\n\t@p ld.relaxed.gpu.global.b64 %0, [%1];\n\t}"
      : "+l"(to)
      : "l"(from), "r"(static_cast<int>(wanted))
      : "memory");
}
__device__ __forceinline__ void load_if(bool wanted, const void* from, std::uint32_t& to) {
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %2, 0;\n\t@p ld.relaxed.gpu.global.b32 %0, [%1];\n\t}"
      : "+r"(to)
      : "l"(from), "r"(static_cast<int>(wanted))
      : "memory");
}
// Element `column` of x as element e of the words.
template <class T>
__device__ __forceinline__ void load_element_if(bool wanted, const T* x, std::int64_t column,
                                                Words& to, int e) {
  if constexpr (sizeof(T) == 16) {
    load_if(wanted, reinterpret_cast<const std::uint64_t*>(x + column), to.w[0]);
    load_if(wanted, reinterpret_cast<const std::uint64_t*>(x + column) + 1, to.w[1]);
  } else if constexpr (sizeof(T) == 8 && kWide<T>) {
    load_if(wanted, x + column, to.w[e]);
  } else if constexpr (sizeof(T) == 8) {
    std::uint32_t parts[2] = {static_cast<std::uint32_t>(to.w[e]),
                              static_cast<std::uint32_t>(to.w[e] >> 32)};
    load_if(wanted, reinterpret_cast<const std::uint32_t*>(x + column), parts[0]);
    load_if(wanted, reinterpret_cast<const std::uint32_t*>(x + column) + 1, parts[1]);
    to.w[e] = parts[0] | std::uint64_t{parts[1]} << 32;
  } else {
    const int shift = 32 * (e % 2);
    auto bits = static_cast<std::uint32_t>(to.w[e / 2] >> shift);
    load_if(wanted, x + column, bits);
    to.w[e / 2] = (to.w[e / 2] & ~(std::uint64_t{0xffffffff} << shift)) | std::uint64_t{bits}
                                                                              << shift;
  }
}

// To others, if more powers read it.
template <class T>
__device__ __forceinline__ void store_words(T* to, const Words& words, bool read_again) {
  if (read_again) {
    asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};"
                 :
                 : "l"(to), "l"(words.w[0]), "l"(words.w[1])
                 : "memory");
  } else {
    asm volatile("st.global.cs.v2.b64 [%0], {%1, %2};"
                 :
                 : "l"(to), "l"(words.w[0]), "l"(words.w[1])
                 : "memory");
  }
}
template <class T>
__device__ __forceinline__ void store_element(T* to, const Words& words, int e) {
  const auto word = [&](std::uint64_t bits, int place) {
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;"
                 :
                 : "l"(reinterpret_cast<std::uint64_t*>(to) + place), "l"(bits)
                 : "memory");
  };
  const auto half = [&](std::uint64_t bits, int place) {
    asm volatile("st.relaxed.gpu.global.b32 [%0], %1;"
                 :
                 : "l"(reinterpret_cast<std::uint32_t*>(to) + place),
                   "r"(static_cast<std::uint32_t>(bits))
                 : "memory");
  };
  if constexpr (sizeof(T) == 16) {
    word(words.w[0], 0);
    word(words.w[1], 1);
  } else if constexpr (sizeof(T) == 4) {
    half(words.w[e / 2] >> (32 * (e % 2)), 0);
  } else if constexpr (kWide<T>) {
    word(words.w[e], 0);
  } else {
    half(words.w[e], 0);
    half(words.w[e] >> 32, 1);
  }
}

// Of the lane before or behind; the first or last lane has its own.
template <class R>
__device__ __forceinline__ R from_before(R value, R own, int lane) {
  const R other = __shfl_up_sync(0xffffffffU, value, 1);
  return lane == 0 ? own : other;
}
template <class R>
__device__ __forceinline__ Complex<R> from_before(Complex<R> value, Complex<R> own, int lane) {
  return {from_before(value.re, own.re, lane), from_before(value.im, own.im, lane)};
}
template <class R>
__device__ __forceinline__ R from_behind(R value, R own, int lane) {
  const R other = __shfl_down_sync(0xffffffffU, value, 1);
  return lane == kWarpLanes - 1 ? own : other;
}
template <class R>
__device__ __forceinline__ Complex<R> from_behind(Complex<R> value, Complex<R> own, int lane) {
  return {from_behind(value.re, own.re, lane), from_behind(value.im, own.im, lane)};
}

// Of the lane whose number differs in these bits.
template <class R>
__device__ __forceinline__ R from_other(R value, int bits) {
  return __shfl_xor_sync(0xffffffffU, value, bits);
}
template <class R>
__device__ __forceinline__ Complex<R> from_other(Complex<R> value, int bits) {
  return {from_other(value.re, bits), from_other(value.im, bits)};
}

// A word of shared memory that warps of a block tell each other something by. Atomic operations on
// both sides, and fences of the block: tools that look for races know these, and know nothing of
// loads that acquire what a store has released.
__device__ __forceinline__ std::uint32_t load_acquire_shared(std::uint32_t* word) {
  const std::uint32_t value = atomicOr(word, 0U);
  __threadfence_block();
  return value;
}
__device__ __forceinline__ void store_release_shared(std::uint32_t* word, std::uint32_t value) {
  __threadfence_block();
  atomicExch(word, value);
}

}  // namespace strata::gpu::hopper
