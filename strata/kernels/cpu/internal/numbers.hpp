// Real and complex numbers inside the kernels of a level. Those of std:: are left to the callers:
// their functions would be shared between levels (kernel_table.hpp), and their product checks each
// result for NaN and computes it again.
#pragma once

#include <complex>

#include "strata/base/types.hpp"
#include "strata/kernels/cpu/step_arguments.hpp"

#ifndef STRATA_CPU_LEVEL
#error "the kernels are compiled once per level, whose name is STRATA_CPU_LEVEL"
#endif

// Loops over registers, which have to be unrolled for their arrays to be registers at all, and
// loops that are not worth being unrolled.
#define STRATA_UNROLL _Pragma("GCC unroll 32")
#define STRATA_KEEP_LOOP _Pragma("GCC unroll 1")

// For lambdas in whose body sums have to stay in registers.
#define STRATA_INLINE __attribute__((always_inline))

namespace strata::cpu::STRATA_CPU_LEVEL {

template <class R>
struct Complex {
  R real;
  R imaginary;
};

template <class V>
struct NumberOf {
  using Type = V;
  using Real = V;
};
template <class R>
struct NumberOf<std::complex<R>> {
  using Type = Complex<R>;
  using Real = R;
};
template <class V>
using Number = typename NumberOf<V>::Type;
template <class V>
using Real = typename NumberOf<V>::Real;

template <class R>
inline R loaded(const R* from) {
  return *from;
}
template <class R>
inline Complex<R> loaded(const std::complex<R>* from) {
  // Two numbers in a row, by the standard.
  const R* parts = reinterpret_cast<const R*>(from);
  return {parts[0], parts[1]};
}
template <class R>
inline void store(R* to, R number) {
  *to = number;
}
template <class R>
inline void store(std::complex<R>* to, Complex<R> number) {
  R* parts = reinterpret_cast<R*>(to);
  parts[0] = number.real;
  parts[1] = number.imaginary;
}

// sum + a·b, fused where the level has the instruction. It is written out: left to the compiler,
// complex products are fused in some loops and not in others, and the same row gets different bits.
template <class R>
inline R multiply_add(R a, R b, R sum) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__FP_FAST_FMA)
  if constexpr (sizeof(R) == sizeof(float)) {
    return __builtin_fmaf(a, b, sum);
  } else {
    return __builtin_fma(a, b, sum);
  }
#else
  return sum + a * b;
#endif
}
template <class R>
inline Complex<R> multiply_add(Complex<R> a, Complex<R> b, Complex<R> sum) {
  return {multiply_add(-a.imaginary, b.imaginary, multiply_add(a.real, b.real, sum.real)),
          multiply_add(a.imaginary, b.real, multiply_add(a.real, b.imaginary, sum.imaginary))};
}

template <class R>
inline R product(R a, R b) {
  return a * b;
}
template <class R>
inline Complex<R> product(Complex<R> a, Complex<R> b) {
  return multiply_add(a, b, Complex<R>{});
}

template <class R>
inline R added(R a, R b) {
  return a + b;
}
template <class R>
inline Complex<R> added(Complex<R> a, Complex<R> b) {
  return {a.real + b.real, a.imaginary + b.imaginary};
}

template <class R>
inline R negated(R number) {
  return -number;
}
template <class R>
inline Complex<R> negated(Complex<R> number) {
  return {-number.real, -number.imaginary};
}

template <class R>
inline bool equals(R a, R real) {
  return a == real;
}
template <class R>
inline bool equals(Complex<R> a, R real) {
  return a.real == real && a.imaginary == R{};
}

template <class R>
inline bool is_finite(R number) {
  return __builtin_isfinite(number);
}
template <class R>
inline bool is_finite(Complex<R> number) {
  return __builtin_isfinite(number.real) && __builtin_isfinite(number.imaginary);
}

// The address, of which the compiler knows nothing more. It would add a base that it knows to each
// index instead of once, which made gathers take a twentieth longer (g++ 12, Neoverse V1).
template <class T>
STRATA_INLINE inline const T* as_base(const T* address) {
  __asm__("" : "+r"(address));
  return address;
}

// The coefficients of a step, and which of its parts there are.
template <Value V>
struct Step {
  Number<V> alpha;
  Number<V> minus_shift;
  Number<V> beta;
  bool scaled;    // α ≠ 1
  bool shifted;   // θ ≠ 0
  bool previous;  // β ≠ 0
};

template <Value V>
inline Step<V> step_of(const StepCoefficients<V>& coefficients) {
  const Number<V> alpha = loaded(&coefficients.alpha);
  const Number<V> shift = loaded(&coefficients.shift);
  const Number<V> beta = loaded(&coefficients.beta);
  return {alpha,
          negated(shift),
          beta,
          !equals(alpha, Real<V>{1}),
          !equals(shift, Real<V>{}),
          !equals(beta, Real<V>{})};
}

// A step that is the product alone, known when the kernel is compiled: with short rows, looking at
// what a step has takes a twentieth of the time.
template <Value V>
struct PlainStep : Step<V> {
  static constexpr bool scaled = false;
  static constexpr bool shifted = false;
  static constexpr bool previous = false;
};

// Calls body(step), plain if it is.
template <Value V, class Body>
inline void with_step(const Step<V>& step, const Body& body) {
  if (step.scaled || step.shifted || step.previous) {
    body(step);
  } else {
    body(PlainStep<V>{step});
  }
}

// Writes element `i` of the vectors from the row's sum of products, as Lanes do: a negative zero
// stays one.
template <class AnyStep, Value V>
inline void finish(const AnyStep& step, const StepVectors<V>& vectors, Offset i, Number<V> sum) {
  if (step.shifted) sum = multiply_add(step.minus_shift, loaded(vectors.x + i), sum);
  if (step.scaled) sum = product(step.alpha, sum);
  if (step.previous) sum = multiply_add(step.beta, loaded(vectors.previous + i), sum);
  store(vectors.out + i, sum);
}

// The same for all elements of a row, of which the first is `first`.
template <int count, class AnyStep, Value V>
inline void finish_row(const AnyStep& step, const StepVectors<V>& vectors, Offset first,
                       const Number<V> (&sums)[count]) {
  STRATA_KEEP_LOOP
  for (int v = 0; v < count; ++v) finish(step, vectors, first + v, sums[v]);
}

// Calls body(Constant<count>()) for a count of `candidate` … kMaxVectors.
template <int number>
struct Constant {};
template <int candidate, class Body>
inline void with_vector_count(int count, const Body& body) {
  if (count == candidate) {
    body(Constant<candidate>());
  } else if constexpr (candidate < kMaxVectors) {
    with_vector_count<candidate + 1>(count, body);
  }
}

}  // namespace strata::cpu::STRATA_CPU_LEVEL
