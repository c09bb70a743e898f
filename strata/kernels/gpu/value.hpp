// Numbers on a GPU: float and double as they are, complex ones as a pair that is loaded and stored
// at once. std::complex has the same layout, but its arithmetic detours by way of library calls.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <type_traits>

#include "strata/base/types.hpp"
#include "strata/kernels/gpu/simt.hpp"

namespace strata::gpu {

template <class R>
struct alignas(2 * sizeof(R)) Complex {
  R re;
  R im;
};

template <class V>
struct DeviceValueOf {
  using type = V;
};
template <class R>
struct DeviceValueOf<std::complex<R>> {
  using type = Complex<R>;
};
// How a kernel sees values of type V.
template <Value V>
using DeviceValue = typename DeviceValueOf<V>::type;

template <Value V>
DeviceValue<V> device_value(V value) {
  if constexpr (is_complex<V>) {
    return {value.real(), value.imag()};
  } else {
    return value;
  }
}

// Always fused: what a compiler makes of a·b + c depends on the code around it, and the same row
// must give the same bits in every kernel.
STRATA_DEVICE float multiply_add(float a, float b, float sum) {
  return fmaf(a, b, sum);
}
STRATA_DEVICE double multiply_add(double a, double b, double sum) {
  return fma(a, b, sum);
}
template <class R>
STRATA_DEVICE Complex<R> multiply_add(Complex<R> a, Complex<R> b, Complex<R> sum) {
  return {multiply_add(a.re, b.re, multiply_add(-a.im, b.im, sum.re)),
          multiply_add(a.re, b.im, multiply_add(a.im, b.re, sum.im))};
}

template <class R>
STRATA_DEVICE R add(R a, R b) {
  return a + b;
}
template <class R>
STRATA_DEVICE Complex<R> add(Complex<R> a, Complex<R> b) {
  return {a.re + b.re, a.im + b.im};
}

template <class R>
STRATA_DEVICE R negative(R a) {
  return -a;
}
template <class R>
STRATA_DEVICE Complex<R> negative(Complex<R> a) {
  return {-a.re, -a.im};
}

template <class R>
STRATA_DEVICE bool is_zero(R a) {
  return a == R{};
}
template <class R>
STRATA_DEVICE bool is_zero(Complex<R> a) {
  return a.re == R{} && a.im == R{};
}

// Infinities and NaN minus themselves are NaN, and nothing else is. Of doubles the bits of the
// exponent tell it in less time.
template <class R>
STRATA_DEVICE bool is_finite(R a) {
#if defined(STRATA_SIMT_NATIVE) && !defined(__HIPCC__)
  if constexpr (sizeof(R) == sizeof(double)) {
    constexpr int exponent = 0x7ff00000;
    return (__double2hiint(a) & exponent) != exponent;
  }
#endif
  return a - a == R{};
}
template <class R>
STRATA_DEVICE bool is_finite(Complex<R> a) {
  return is_finite(a.re) && is_finite(a.im);
}

template <class Thread, class R>
STRATA_DEVICE R shuffle_down(Thread& thread, R value, int delta, int width) {
  return thread.shuffle_down(value, delta, width);
}
template <class Thread, class R>
STRATA_DEVICE Complex<R> shuffle_down(Thread& thread, Complex<R> value, int delta, int width) {
  return {thread.shuffle_down(value.re, delta, width), thread.shuffle_down(value.im, delta, width)};
}

template <class Thread, class R>
STRATA_DEVICE R shuffle(Thread& thread, R value, int lane) {
  return thread.shuffle(value, lane);
}
template <class Thread, class R>
STRATA_DEVICE Complex<R> shuffle(Thread& thread, Complex<R> value, int lane) {
  return {thread.shuffle(value.re, lane), thread.shuffle(value.im, lane)};
}

// Data that is read once; complex numbers by their parts, for which there are instructions.
template <class Thread, class R>
STRATA_DEVICE R load_once(Thread& thread, const R* pointer) {
  return thread.load_once(pointer);
}
template <class Thread, class R>
STRATA_DEVICE R load_early(Thread& thread, const R* pointer) {
  return thread.load_early(pointer);
}
template <class Thread, class R>
STRATA_DEVICE Complex<R> load_early(Thread& thread, const Complex<R>* pointer) {
  return {thread.load_early(&pointer->re), thread.load_early(&pointer->im)};
}
template <class Thread, class R>
STRATA_DEVICE R load_if(Thread& thread, bool condition, const R* pointer, R other) {
  return thread.load_if(condition, pointer, other);
}
template <class Thread, class R>
STRATA_DEVICE Complex<R> load_if(Thread& thread, bool condition, const Complex<R>* pointer,
                                 Complex<R> other) {
  return {thread.load_if(condition, &pointer->re, other.re),
          thread.load_if(condition, &pointer->im, other.im)};
}
template <class Thread, class R>
STRATA_DEVICE Complex<R> load_once(Thread& thread, const Complex<R>* pointer) {
  return {thread.load_once(&pointer->re), thread.load_once(&pointer->im)};
}

}  // namespace strata::gpu
