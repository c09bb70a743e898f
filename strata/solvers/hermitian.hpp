// What methods ask of a matrix before they begin: whether it is square, finite and Hermitian, and
// where its field of values lies.
#pragma once

#include <optional>

#include "strata/formats/csr.hpp"

namespace strata::solvers {

// Throw InvalidArgument that names `method` and the first row that is to blame.
template <Value V, Index I>
void require_square(const Csr<V, I>& matrix, std::string_view method);
template <Value V, Index I>
void require_finite(const Csr<V, I>& matrix, std::string_view method);
template <Value V, Index I>
void require_hermitian(const Csr<V, I>& matrix, std::string_view method);

// Up to the rounding that assembling in another order leaves.
template <Value V, Index I>
bool is_hermitian(const Csr<V, I>& matrix);

// A rectangle that holds all xᴴAx with ‖x‖ = 1, by Gershgorin's circles of the Hermitian and of the
// skew-Hermitian part.
struct FieldOfValues {
  double real_low = 0, real_high = 0;
  double imaginary_low = 0, imaginary_high = 0;
};
template <Value V, Index I>
FieldOfValues field_of_values(const Csr<V, I>& matrix);

}  // namespace strata::solvers
