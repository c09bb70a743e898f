// Bases of Krylov spaces for methods that make several vectors at a time: which one keeps them
// apart, from what is known of the spectrum, and how the matrix looks in it.
//
//   v_k = α_k (A − θ_k I) v_{k−1} + β_k v_{k−2},   v_0 given          (plans/basis.hpp)
//   A [v_0, …, v_{s−1}] = [v_0, …, v_s] B
#pragma once

#include <complex>
#include <string_view>
#include <vector>

#include "strata/plans/basis.hpp"
#include "strata/solvers/dense.hpp"

namespace strata::solvers {

enum class KrylovBasis {
  newton,     // shifts are Ritz values in Leja's order: for any spectrum
  chebyshev,  // on the interval of the Ritz values: for real spectra
  monomial    // scaled by the largest Ritz value: for very few powers
};
inline constexpr KrylovBasis kKrylovBases[] = {KrylovBasis::newton, KrylovBasis::chebyshev,
                                               KrylovBasis::monomial};
std::string_view name_of(KrylovBasis basis);

// `count` of the points, each as far from those before it as can be, by the product of the
// distances; conjugate pairs, of which both must be there, stay together, unless the last one has
// no room and gives way to its real part. Fewer points than asked for are repeated.
//   L. Reichel, Newton interpolation at Leja points, BIT 30, 1990; Z. Bai, D. Hu, L. Reichel, A
//   Newton basis GMRES implementation, IMA J. Numer. Anal. 14, 1994
std::vector<std::complex<double>> leja_ordered(std::vector<std::complex<double>> points, int count);

// A basis of `power` vectors for a matrix with these Ritz values, of which there is at least one.
// In real arithmetic the points must come with their conjugates.
Basis krylov_basis(KrylovBasis kind, const std::vector<std::complex<double>>& ritz_values,
                   int power);

// B, of power + 1 rows and `power` columns.
template <Value V>
Dense<Wide<V>> change_of_basis(const Basis& basis, int power);

}  // namespace strata::solvers
