// Arithmetic of scalars on a GPU, as solvers/vector_program.hpp names it.
#pragma once

#include <cmath>

#include "strata/kernels/gpu/simt.hpp"
#include "strata/kernels/gpu/value.hpp"
#include "strata/solvers/vector_program.hpp"

namespace strata::gpu {

template <class T>
STRATA_DEVICE T multiply(T a, T b) {
  return multiply_add(a, b, T{});
}

template <class R>
STRATA_DEVICE R real_part(R a) {
  return a;
}
template <class R>
STRATA_DEVICE R real_part(Complex<R> a) {
  return a.re;
}

template <class R>
STRATA_DEVICE R quotient(R a, R b) {
  return a / b;
}
// By the larger part of the divisor, so that squares do not overflow.
//   R. L. Smith, Algorithm 116: complex division, Comm. ACM 5, 1962
template <class R>
STRATA_DEVICE Complex<R> quotient(Complex<R> a, Complex<R> b) {
  if (std::abs(b.re) >= std::abs(b.im)) {
    const R ratio = b.im / b.re, length = b.re + b.im * ratio;
    return {(a.re + a.im * ratio) / length, (a.im - a.re * ratio) / length};
  }
  const R ratio = b.re / b.im, length = b.re * ratio + b.im;
  return {(a.re * ratio + a.im) / length, (a.im * ratio - a.re) / length};
}

template <class R>
STRATA_DEVICE R root(R a) {
  return std::sqrt(a);
}
// The root whose real part is not negative.
template <class R>
STRATA_DEVICE Complex<R> root(Complex<R> a) {
  if (a.re == R{} && a.im == R{}) return {R{}, a.im};
  const R half = std::sqrt((std::abs(a.re) + std::hypot(a.re, a.im)) / 2);
  const R other = std::abs(a.im) / (2 * half);
  const R im = a.re >= R{} ? other : half;
  return {a.re >= R{} ? half : other, a.im < R{} ? -im : im};
}

template <class T>
STRATA_DEVICE T computed(solvers::Operation operation, T left, T right) {
  using solvers::Operation;
  switch (operation) {
    case Operation::add: return add(left, right);
    case Operation::subtract: return add(left, negative(right));
    case Operation::multiply: return multiply(left, right);
    case Operation::divide: return quotient(left, right);
    case Operation::divide_positive: return real_part(right) > 0 ? quotient(left, right) : T{};
    case Operation::divide_nonzero: return is_zero(right) ? T{} : quotient(left, right);
    case Operation::copy: return left;
    case Operation::square_root: return root(left);
  }
  return T{};
}

}  // namespace strata::gpu
