#include "strata/solvers/hermitian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/formats/csc.hpp"

namespace strata::solvers {

namespace {

template <Value V>
bool is_finite(const V& value) {
  return std::isfinite(std::real(value)) && std::isfinite(std::imag(value));
}

// visit(row, column, a_rc, conj(a_cr)) for all places where one of them is an entry; `mirror` has
// the same rows of the transpose.
template <Value V, Index I, class Visit>
void for_each_pair(const Csr<V, I>& matrix, const Csr<V, I>& mirror, const Visit& visit) {
  for (I row = 0; row < matrix.rows(); ++row) {
    auto k = static_cast<std::size_t>(matrix.row_offsets()[row]);
    auto m = static_cast<std::size_t>(mirror.row_offsets()[row]);
    const auto end = static_cast<std::size_t>(matrix.row_offsets()[row + 1]);
    const auto mirror_end = static_cast<std::size_t>(mirror.row_offsets()[row + 1]);
    while (k < end || m < mirror_end) {
      const I here = k < end ? matrix.columns()[k] : std::numeric_limits<I>::max();
      const I there = m < mirror_end ? mirror.columns()[m] : std::numeric_limits<I>::max();
      const I column = std::min(here, there);
      const V value = here == column ? matrix.values()[k++] : V(0);
      const V mirrored = there == column ? conjugate(mirror.values()[m++]) : V(0);
      if (!visit(row, column, value, mirrored)) return;
    }
  }
}

template <Index I>
struct Place {
  I row, column;
};

template <Value V, Index I>
std::optional<Place<I>> first_defect(const Csr<V, I>& matrix, const Csr<V, I>& mirror,
                                     double largest) {
  const double allowed =
      1000 * static_cast<double>(std::numeric_limits<decltype(std::abs(V()))>::epsilon()) * largest;
  std::optional<Place<I>> defect;
  for_each_pair(matrix, mirror, [&](I row, I column, V value, V mirrored) {
    // What is not a number equals nothing.
    if (!(static_cast<double>(std::abs(value - mirrored)) <= allowed)) defect = {row, column};
    return !defect;
  });
  return defect;
}

template <Value V, Index I>
std::optional<Place<I>> first_defect(const Csr<V, I>& matrix) {
  double largest = 0;
  for (const V& value : matrix.values()) {
    largest = std::max(largest, static_cast<double>(std::abs(value)));
  }
  const Csc<V, I> columns = Csc<V, I>::from_csr(matrix);
  return first_defect(matrix, columns.transpose(), largest);
}

}  // namespace

template <Value V, Index I>
void require_square(const Csr<V, I>& matrix, std::string_view method) {
  if (matrix.rows() == matrix.cols()) return;
  throw InvalidArgument(
      fmt::format("{} needs a square matrix, and this one has {} rows and {} "
                  "columns",
                  method, matrix.rows(), matrix.cols()));
}

template <Value V, Index I>
void require_finite(const Csr<V, I>& matrix, std::string_view method, Offset first_row) {
  for (I row = 0; row < matrix.rows(); ++row) {
    for (auto k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      if (is_finite(matrix.values()[k])) continue;
      throw InvalidArgument(
          fmt::format("{} needs finite values, and entry ({}, {}) of the matrix is not", method,
                      first_row + row + 1, matrix.columns()[k] + 1));
    }
  }
}

template <Value V, Index I>
void require_hermitian(const Csr<V, I>& matrix, std::string_view method) {
  require_square(matrix, method);
  require_finite(matrix, method);
  const auto defect = first_defect(matrix);
  if (!defect) return;
  throw InvalidArgument(fmt::format(
      "{} needs a {} matrix, and this one has other values at ({}, {}) than at ({}, {})", method,
      is_complex<V> ? "Hermitian" : "symmetric", defect->row + 1, defect->column + 1,
      defect->column + 1, defect->row + 1));
}

template <Value V, Index I>
bool is_hermitian(const Csr<V, I>& matrix) {
  return matrix.rows() == matrix.cols() && !first_defect(matrix);
}

template <Value V, Index I>
bool rows_are_hermitian(const Csr<V, I>& rows, const Csr<V, I>& of_transpose, double largest) {
  return !first_defect(rows, of_transpose, largest);
}

template <Value V, Index I>
FieldOfValues field_of_values(const Csr<V, I>& matrix) {
  if (matrix.rows() == 0) return {};
  const Csc<V, I> columns = Csc<V, I>::from_csr(matrix);
  return field_of_rows(matrix, columns.transpose(), 0);
}

template <Value V, Index I>
FieldOfValues field_of_rows(const Csr<V, I>& rows, const Csr<V, I>& of_transpose,
                            Offset first_row) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  FieldOfValues field{kInfinity, -kInfinity, kInfinity, -kInfinity};
  I current = 0;
  std::complex<double> centre = 0;
  double hermitian = 0, skew = 0;
  const auto finish_row = [&] {
    field.real_low = std::min(field.real_low, centre.real() - hermitian);
    field.real_high = std::max(field.real_high, centre.real() + hermitian);
    field.imaginary_low = std::min(field.imaginary_low, centre.imag() - skew);
    field.imaginary_high = std::max(field.imaginary_high, centre.imag() + skew);
    ++current;
    centre = 0;
    hermitian = skew = 0;
  };
  for_each_pair(rows, of_transpose, [&](I row, I column, V value, V mirrored) {
    while (current < row) finish_row();
    if (column == first_row + row) {
      centre = std::complex<double>(value);
    } else {
      hermitian += static_cast<double>(std::abs(value + mirrored)) / 2;
      skew += static_cast<double>(std::abs(value - mirrored)) / 2;
    }
    return true;
  });
  while (current < rows.rows()) finish_row();
  return field;
}

#define STRATA_INSTANTIATE(V, I)                                                \
  template void require_square(const Csr<V, I>&, std::string_view);             \
  template void require_finite(const Csr<V, I>&, std::string_view, Offset);     \
  template void require_hermitian(const Csr<V, I>&, std::string_view);          \
  template bool is_hermitian(const Csr<V, I>&);                                 \
  template bool rows_are_hermitian(const Csr<V, I>&, const Csr<V, I>&, double); \
  template FieldOfValues field_of_values(const Csr<V, I>&);                     \
  template FieldOfValues field_of_rows(const Csr<V, I>&, const Csr<V, I>&, Offset)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers
