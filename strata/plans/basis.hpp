// Basis: which vectors a power sweep produces. Each is one step of
//
//   y_k = α_k (A − θ_k I) y_{k−1} + β_k y_{k−2},   y_0 = x
//
// so that all of them are the same kernel with other coefficients. Monomials grow or vanish with
// the powers of the largest eigenvalue; the others keep the vectors of s-step Krylov methods apart.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/kernels/cpu/step.hpp"

namespace strata {

class Basis {
 public:
  // y_k = Aᵏx
  static Basis monomial();
  // y_k = (A/σ)ᵏx, σ about the largest eigenvalue
  static Basis scaled(double sigma);
  // y_k = (A − θ_k I) y_{k−1} / σ, with one shift per power. In real arithmetic complex shifts come
  // in pairs θ, conj(θ) next to each other: the first then subtracts Re θ only, and the second adds
  // (Im θ)² y_{k−2}, which makes the product of both right without complex numbers
  // (Bai, Hu and Reichel, IMA J. Numer. Anal. 14, 1994).
  static Basis newton(std::vector<std::complex<double>> shifts, double sigma = 1);
  // Chebyshev polynomials of the first kind on [low, high], which should hold the spectrum.
  static Basis chebyshev(double low, double high);

  // Throws InvalidArgument unless the basis has `power` vectors in arithmetic of type V: enough
  // shifts, and coefficients that numbers of this type can hold.
  template <Value V>
  void require_steps(int power) const;
  // The coefficients of y_k, k = 1 … power. Throws InvalidArgument, as require_steps does, where
  // one is too large for the type, where a factor is so small that it loses digits or becomes 0,
  // and where the two ends of a Chebyshev interval become the same number.
  template <Value V>
  cpu::StepCoefficients<V> step(int k) const;

  // "monomial", "Chebyshev on [0, 4]", …
  std::string name() const;

 private:
  enum class Kind { monomial, scaled, newton, chebyshev };

  template <Value V>
  void require_shifts(int power) const;
  template <Value V>
  cpu::StepCoefficients<V> coefficients(int k) const;

  Kind kind_ = Kind::monomial;
  double sigma_ = 1;
  double low_ = 0;
  double high_ = 0;
  std::vector<std::complex<double>> shifts_;
};

}  // namespace strata
