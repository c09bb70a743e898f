// Are computed vectors right? Every element of every power is compared with one step from the
// vectors that were computed before it,
//
//   r = α (Σ_j a_ij y_{k−1}[j] − θ y_{k−1}[i]) + β y_{k−2}[i],   y_0 = x
//
// within the rounding error of that row alone. Errors of earlier powers are in r as well, so the
// tolerance does not grow with k, and large rows lend nothing to small ones. If every step is
// right, so is the whole.
//
// The reference step r is a sum of two doubles, from error-free transformations (Dot2 of Ogita,
// Rump and Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005): its own error is of
// the order of the square of a double's rounding error. The tolerance is
//
//   |y_k[i] − r| ≤ γ_n M + 2ηc,   γ_n = nu / (1 − nu),   u = ε/2
//
// - M is r with every number replaced by its absolute value.
// - n is how many roundings a term can pass through on its way into the result, in whatever order
//   they are made, fused or not (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
//   sections 3.1 and 4.2). A sum of t products rounds each once and adds it at most t − 1 times: t.
//   t is the number of entries, one more if θ ≠ 0. One more each for the multiplication by α ≠ 1,
//   of the sum or of the entries, and for the sum with the product βy_{k−2} if β ≠ 0.
// - η is the smallest positive number: a product that underflows is off by η/2 instead of a share
//   of itself, and so may be the reference's. c says how much that weighs in the result: |α| for
//   each of the t products, 1 for those with α and β, and where entries are multiplied by α first,
//   |y_{k−1}[j]|.
//
// Complex numbers are two real ones: a product is two products in each part, so t, n and c count
// the parts of entries and coefficients. Parts that are zero do not count: their products are exact
// and so is adding them. Both parts of a result have to be right.
//
// An element is not judged where nothing follows from the result: if an input of its row is not
// finite; if M, or M before it is multiplied by α, is more than half the largest number, so that
// partial sums may overflow; and if γ_n ≥ 1, so that 0 would pass (rows of eight million entries in
// single precision). Where an element is judged, a result that is not finite is wrong.
#pragma once

#include <complex>
#include <span>
#include <string>
#include <type_traits>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/kernels/cpu/step.hpp"
#include "strata/plans/basis.hpp"

namespace strata {

struct Check {
  // No element is wrong, and at least one was judged if there are any.
  bool passed = true;
  Offset elements = 0;
  Offset judged = 0;
  Offset wrong = 0;
  int compared = 0;              // powers of which every element was judged
  double largest_tolerance = 0;  // that an element was judged by, relative to its M

  // The element with the largest error for its tolerance, the first of those; counted from 0. The
  // power is 0 if none was judged.
  int power = 0;
  Offset row = 0;
  int vector = 0;
  int vectors = 1;  // of how many
  // Both relative to M of that element (absolute if M = 0); of a complex number, those of the part
  // that is worse. The error is infinite if the result is not finite.
  double relative_error = 0;
  double tolerance = 0;
  double share = 0;  // of the tolerance that the error takes: at most 1 unless it is wrong
  std::complex<double> computed;
  std::complex<double> expected;
  bool unwritten = false;  // computed is what poison() left, or was made of that

  // In one sentence without a full stop: which element is worst and how it differs.
  std::string explain() const;
};

// One step out = α(A − θI)x + β previous of `vectors` interleaved vectors: element v of row r at
// r·vectors + v. The matrix is square if θ ≠ 0; `previous` is read if β ≠ 0, and then holds what it
// held before the step. Throws InvalidArgument for vectors of other lengths.
template <Value V, Index I>
Check check_step(const Csr<V, I>& matrix,
                 const std::type_identity_t<cpu::StepCoefficients<V>>& coefficients,
                 std::type_identity_t<std::span<const V>> x,
                 std::type_identity_t<std::span<const V>> previous,
                 std::type_identity_t<std::span<const V>> out, int vectors = 1);

// The powers [y_1, …, y_p] of x, one after another, in the order of the rows of the matrix. Takes a
// few times as long as p products and no memory; the result does not depend on the number of
// threads. A matrix that is not square has one power.
template <Value V, Index I>
Check check_powers(const Csr<V, I>& matrix, std::type_identity_t<std::span<const V>> x,
                   std::type_identity_t<std::span<const V>> powers, const Basis& basis, int power,
                   int vectors = 1);

}  // namespace strata
