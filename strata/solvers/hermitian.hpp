// What methods ask of a matrix before they begin: whether it is square, finite and Hermitian, and
// where its field of values lies.
#pragma once

#include <optional>

#include "strata/formats/csr.hpp"

namespace strata::solvers {

// Throw InvalidArgument that names `method` and the first row that is to blame.
template <Value V, Index I>
void require_square(const Csr<V, I>& matrix, std::string_view method);
// Rows may be those of a larger matrix from `first_row` on.
template <Value V, Index I>
void require_finite(const Csr<V, I>& matrix, std::string_view method, Offset first_row = 0);
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

// Both for some rows of a larger matrix, with the same rows of its transpose: whether they are
// Hermitian if |a_ij| is at most `largest` in all of it, and the rectangle of the rows from
// `first_row` on; those of all rows together hold the field of values.
template <Value V, Index I>
bool rows_are_hermitian(const Csr<V, I>& rows, const Csr<V, I>& of_transpose, double largest);
template <Value V, Index I>
FieldOfValues field_of_rows(const Csr<V, I>& rows, const Csr<V, I>& of_transpose, Offset first_row);

}  // namespace strata::solvers
