// Small dense matrices of the host: what is left of a method when its long vectors have become
// inner products. Always in double precision, whatever the vectors are.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "strata/base/types.hpp"

namespace strata::solvers {

// What small matrices of a method with values of type V hold.
template <Value V>
using Wide = std::conditional_t<is_complex<V>, std::complex<double>, double>;

// A number of the host for vectors of type V.
template <Value V>
V narrowed(std::type_identity_t<Wide<V>> number) {
  if constexpr (is_complex<V>) {
    using Real = typename V::value_type;
    return V(static_cast<Real>(number.real()), static_cast<Real>(number.imag()));
  } else {
    return static_cast<V>(number);
  }
}
template <Value V>
std::vector<V> narrowed(std::span<const std::type_identity_t<Wide<V>>> numbers) {
  std::vector<V> result;
  for (const Wide<V>& number : numbers) result.push_back(narrowed<V>(number));
  return result;
}

// Column by column.
template <class W>
class Dense {
 public:
  Dense() = default;
  Dense(int rows, int columns)
      : rows_(rows), columns_(columns), values_(static_cast<std::size_t>(rows) * columns) {}
  // Of other numbers, column by column.
  template <class Numbers>
  Dense(int rows, int columns, const Numbers& numbers) : Dense(rows, columns) {
    for (std::size_t k = 0; k < values_.size(); ++k) values_[k] = W(numbers[k]);
  }
  static Dense identity(int size) {
    Dense unit(size, size);
    for (int i = 0; i < size; ++i) unit(i, i) = W(1);
    return unit;
  }

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  W& operator()(int row, int column) { return values_[index(row, column)]; }
  const W& operator()(int row, int column) const { return values_[index(row, column)]; }
  W* data() { return values_.data(); }
  const W* data() const { return values_.data(); }
  std::span<const W> values() const { return values_; }

  // Rows [row, row + rows) of columns [column, column + columns).
  Dense part(int row, int column, int rows, int columns) const {
    Dense copy(rows, columns);
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) copy(i, j) = (*this)(row + i, column + j);
    }
    return copy;
  }
  void set_part(int row, int column, const Dense& part) {
    for (int j = 0; j < part.columns(); ++j) {
      for (int i = 0; i < part.rows(); ++i) (*this)(row + i, column + j) = part(i, j);
    }
  }

 private:
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(column) * static_cast<std::size_t>(rows_) +
           static_cast<std::size_t>(row);
  }

  int rows_ = 0;
  int columns_ = 0;
  std::vector<W> values_;
};

template <class W>
Dense<W> operator*(const Dense<W>& a, const Dense<W>& b);
template <class W>
Dense<W> operator+(const Dense<W>& a, const Dense<W>& b);
template <class W>
Dense<W> operator-(const Dense<W>& a, const Dense<W>& b);
template <class W>
Dense<W> adjoint(const Dense<W>& a);

// The upper triangular R with RᴴR = A, of a Hermitian A of which the upper triangle is read, as far
// as it can be trusted: of the largest leading block whose pivots R_ii² all exceed least[i]. Where
// not even the first does, R has no columns.
template <class W>
Dense<W> cholesky(const Dense<W>& a, std::span<const double> least);
// X with TX = B, of an upper triangular T without zeros on its diagonal.
template <class W>
Dense<W> solve_upper(const Dense<W>& t, const Dense<W>& b);
// X with RᴴRX = B.
template <class W>
Dense<W> solve_cholesky(const Dense<W>& r, const Dense<W>& b);

// X with AX = B, of a square A; infinities and NaN where it is singular.
template <class W>
Dense<W> solve(const Dense<W>& a, const Dense<W>& b);

// Ascending; columns of `vectors` are orthonormal eigenvectors.
template <class W>
struct HermitianEigen {
  std::vector<double> values;
  Dense<W> vectors;
};
// Of a Hermitian matrix, of which the lower triangle is read. Throws Error if the iteration does
// not end, which no finite matrix has been seen to do.
template <class W>
HermitianEigen<W> hermitian_eigen(const Dense<W>& a);
// Of any square matrix, in no order.
template <class W>
std::vector<std::complex<double>> eigenvalues(const Dense<W>& a);

}  // namespace strata::solvers
