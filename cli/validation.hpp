// Is what was timed right? Results are compared with repeated reference products in the same
// arithmetic, so both sides round; the tolerance says how far apart that can bring them.
//
// One step y_k = α(A − θI)y_{k−1} + βy_{k−2} is a sum of at most m + 2 products per row, m the
// longest row, each with a coefficient more. In whatever order it is summed, it is off by at most
//
//   γ (|α|(|A| + |θ|)|y_{k−1}| + |β||y_{k−2}|),   γ = (m + 4)ε, three times that if complex
//
// (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., sections 3.1, 3.5 and 3.6). Let
// N_k follow the recurrence with every coefficient replaced by its absolute value, N_0 = |x|: for
// monomials N_k = |A|ᵏ|x|. By induction over k the computed y_k is at most ((1 + γ)ᵏ − 1) N_k ≈
// kγ N_k away from the exact one, and two computed ones are at most 2kγ N_k apart. Norm-wise:
//
//   ‖y_k − reference_k‖∞ ≤ 2kγ ‖N_k‖∞
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/formats/csr.hpp"
#include "strata/plans/basis.hpp"

namespace strata::cli {

// Of all powers the one that is closest to its tolerance. Both numbers are relative to the largest
// element of the reference.
struct Check {
  double relative_error = 0;
  double tolerance = 0;
  int power = 0;     // which one
  int compared = 0;  // powers that were finite in the reference, and hence compared
  bool passed = true;
};

// Random numbers in [−1, 1], without the zeros that would hide mistakes.
template <Value V>
Array<V> random_vector(Offset size, std::uint64_t seed);

// y_1 … y_p of some vectors side by side, by the reference kernel. A matrix that is not square has
// y_1 alone, and only without a shift.
template <Value V>
class ReferencePowers {
 public:
  template <Index I>
  ReferencePowers(const Csr<V, I>& matrix, std::span<const V> x, const Basis& basis, int power,
                  int vectors);

  // Compares the first `power` of them with powers as a plan leaves them in the caller's order.
  Check check(std::span<const V> powers, int power) const;

 private:
  struct OfPower {
    Array<V> values;
    double largest = 0;    // ‖reference_k‖∞
    double tolerance = 0;  // 2kγ ‖N_k‖∞; infinite where numbers overflow
  };
  std::vector<OfPower> powers_;
};

}  // namespace strata::cli
