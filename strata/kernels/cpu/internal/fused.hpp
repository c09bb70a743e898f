// sum + a·b of whole registers, in one rounding where the level has the instruction. It is written
// out, as for single numbers (numbers.hpp): of α·s + β·y a compiler may fuse either product, and
// does so differently from one slice height to the next.
#pragma once

#if defined(__FMA__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
#include <arm_neon.h>
#endif

#include "strata/kernels/cpu/internal/numbers.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

// Register is a vector type of g++ and clang whose elements are R.
template <class R, class Register>
[[gnu::always_inline]] inline Register fused(Register a, Register b, Register sum) {
  [[maybe_unused]] constexpr bool kDoubles = sizeof(R) == sizeof(double);
  [[maybe_unused]] constexpr int kBytes = static_cast<int>(sizeof(Register));
#if defined(__FMA__)
  if constexpr (kBytes == 16 && kDoubles) {
    return (Register)_mm_fmadd_pd((__m128d)a, (__m128d)b, (__m128d)sum);
  } else if constexpr (kBytes == 16) {
    return (Register)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)sum);
  } else if constexpr (kBytes == 32 && kDoubles) {
    return (Register)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)sum);
  } else if constexpr (kBytes == 32) {
    return (Register)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)sum);
  } else {
#if defined(__AVX512F__)
    if constexpr (kDoubles) {
      return (Register)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)sum);
    } else {
      return (Register)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)sum);
    }
#endif
  }
#elif defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
  static_assert(kBytes == 16);
  if constexpr (kDoubles) {
    return (Register)vfmaq_f64((float64x2_t)sum, (float64x2_t)a, (float64x2_t)b);
  } else {
    return (Register)vfmaq_f32((float32x4_t)sum, (float32x4_t)a, (float32x4_t)b);
  }
#elif defined(__FP_FAST_FMA)
  for (int lane = 0; lane < kBytes / static_cast<int>(sizeof(R)); ++lane) {
    sum[lane] = multiply_add(R{a[lane]}, R{b[lane]}, R{sum[lane]});
  }
  return sum;
#else
  return sum + a * b;
#endif
}

}  // namespace strata::cpu::STRATA_CPU_LEVEL
