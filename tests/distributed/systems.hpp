// Matrices for solvers on ranks, of all kinds of values.
#pragma once

#include <cmath>
#include <complex>
#include <string_view>

#include "strata/distributed/network.hpp"
#include "strata/formats/csr.hpp"
#include "strata/gen/generate.hpp"

namespace strata::distributed {

// What messages may cost, so that plans need not measure it.
inline const Network kSomeNetwork{
    .in_node = {1e-6, 1e-10}, .between_nodes = {}, .reduction_seconds = 1e-5, .ranks = 4};

// change(row, column, value) of all entries.
template <Value V, Index I, class Change>
Csr<V, I> changed(const Csr<V, I>& matrix, const Change& change) {
  Array<Offset> offsets(matrix.row_offsets().begin(), matrix.row_offsets().end());
  Array<I> columns(matrix.columns().begin(), matrix.columns().end());
  Array<V> values;
  for (I row = 0; row < matrix.rows(); ++row) {
    for (auto k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      values.push_back(change(row, matrix.columns()[k], matrix.values()[k]));
    }
  }
  return Csr<V, I>(matrix.rows(), matrix.cols(), std::move(offsets), std::move(columns),
                   std::move(values));
}

// Hermitian with the |a_ij| of a generated matrix; complex numbers are turned with i − j.
template <Value V>
Csr<V, std::int32_t> hermitian(std::string_view spec) {
  return changed(
      generate<V, std::int32_t>(spec), [](std::int32_t row, std::int32_t column, V value) {
        if constexpr (is_complex<V>) {
          using Real = typename V::value_type;
          const auto angle = static_cast<Real>(0.7 * (column - row));
          return row == column ? V(value.real()) : std::abs(value) * std::polar(Real(1), angle);
        } else {
          return value;
        }
      });
}

// Larger above the diagonal than below.
template <Value V>
Csr<V, std::int32_t> lopsided(std::string_view spec) {
  using Real = decltype(std::abs(V()));
  return changed(hermitian<V>(spec), [](std::int32_t row, std::int32_t column, V value) {
    return value * Real(row < column ? 1.3 : row > column ? 0.7 : 1.0);
  });
}

template <Value V>
double residual_of(const Csr<V, std::int32_t>& matrix, const std::vector<V>& b,
                   const std::vector<V>& x) {
  double left = 0, whole = 0;
  for (std::int32_t row = 0; row < matrix.rows(); ++row) {
    std::complex<double> sum(b[static_cast<std::size_t>(row)]);
    whole += std::norm(sum);
    for (auto k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      sum -= std::complex<double>(matrix.values()[k]) *
             std::complex<double>(x[static_cast<std::size_t>(matrix.columns()[k])]);
    }
    left += std::norm(sum);
  }
  return std::sqrt(left / whole);
}

}  // namespace strata::distributed
