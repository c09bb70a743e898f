// The claims that every format has to meet, checked on every awkward matrix: it converts back to
// the same CSR, knows its bytes beforehand, and its reference product agrees with Eigen's for any
// α, β and row range, touching nothing else.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/SparseCore>
#include <limits>
#include <string>
#include <vector>

#include "strata/kernels/reference/spmv.hpp"
#include "tests/support/matrices.hpp"

namespace strata::test {

template <Value V, Index I>
Eigen::SparseMatrix<V, Eigen::RowMajor, std::int64_t> to_eigen(const Csr<V, I>& matrix) {
  Eigen::SparseMatrix<V, Eigen::RowMajor, std::int64_t> result(matrix.rows(), matrix.cols());
  std::vector<Eigen::Triplet<V, std::int64_t>> triplets;
  for (I row = 0; row < matrix.rows(); ++row) {
    for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      triplets.emplace_back(row, matrix.columns()[k], matrix.values()[k]);
    }
  }
  result.setFromTriplets(triplets.begin(), triplets.end());
  return result;
}

// An upper bound of the rounding error of one row with `terms` products of numbers of size ≤ 2.
template <Value V>
double tolerance(Offset terms) {
  using Real = decltype(std::abs(V{}));
  return 32.0 * static_cast<double>(terms + 2) * std::numeric_limits<Real>::epsilon();
}

// αAx + βy by Eigen.
template <Value V, Index I>
std::vector<V> product_by_eigen(const Csr<V, I>& matrix, V alpha, const std::vector<V>& x, V beta,
                                const std::vector<V>& y) {
  using Vector = Eigen::Matrix<V, Eigen::Dynamic, 1>;
  const Eigen::Map<const Vector> x_map(x.data(), static_cast<Eigen::Index>(x.size()));
  const Eigen::Map<const Vector> y_map(y.data(), static_cast<Eigen::Index>(y.size()));
  const Vector ax = to_eigen(matrix) * x_map;
  const Vector result = alpha * ax + beta * y_map;
  return std::vector<V>(result.data(), result.data() + result.size());
}

// Compares matrix·x on rows [begin, end) with Eigen's product of `csr`.
template <class Matrix, Value V, Index I>
void expect_product(const Matrix& matrix, const Csr<V, I>& csr, V alpha, V beta, RowRange<I> rows) {
  const std::vector<V> x = random_vector<V>(csr.cols(), 1);
  const std::vector<V> old_y = random_vector<V>(csr.rows(), 2);
  const std::vector<V> expected = product_by_eigen(csr, alpha, x, beta, old_y);
  std::vector<V> y = old_y;
  if (beta == V{}) {
    // With β = 0 the old y must not be read.
    std::fill(y.begin() + rows.begin, y.begin() + rows.end,
              V(std::numeric_limits<decltype(std::abs(V{}))>::quiet_NaN()));
  }
  reference::spmv(matrix, alpha, x, beta, y, rows);
  for (I row = 0; row < csr.rows(); ++row) {
    if (rows.contains(row)) {
      const Offset terms = csr.row_offsets()[row + 1] - csr.row_offsets()[row];
      ASSERT_LE(std::abs(y[row] - expected[row]), tolerance<V>(terms)) << "row " << row;
    } else {
      ASSERT_EQ(y[row], old_y[row]) << "row " << row << " is outside the range";
    }
  }
}

template <class Matrix, Value V, Index I>
void expect_matches_csr(const Matrix& matrix, const Csr<V, I>& csr) {
  EXPECT_EQ(matrix.rows(), csr.rows());
  EXPECT_EQ(matrix.cols(), csr.cols());
  EXPECT_EQ(matrix.nnz(), csr.nnz());
  const I n = csr.rows();
  const V one{1};
  const V half = V(0.5f);
  expect_product(matrix, csr, one, V{}, RowRange<I>{0, n});
  expect_product(matrix, csr, -half, V(2.0f), RowRange<I>{0, n});
  expect_product(matrix, csr, half, one,
                 RowRange<I>{static_cast<I>(n / 3), static_cast<I>(n - n / 4)});
  expect_product(matrix, csr, one, V{}, RowRange<I>{static_cast<I>(n / 2), static_cast<I>(n / 2)});
}

// Format::from_csr, which has to need the bytes that Format::footprint_of said beforehand.
template <class Format, class Matrix, class... Options>
Format build(const Matrix& csr, const Options&... options) {
  Format matrix = Format::from_csr(csr, options...);
  EXPECT_EQ(matrix.footprint(), Format::footprint_of(csr, options...));
  return matrix;
}

// Runs `build(csr)`, which returns the format's matrix, over the whole table.
template <Value V, Index I, class Build>
void expect_format_works(Build&& build) {
  for (const auto& [name, entries] : awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    const auto matrix = build(csr);
    EXPECT_EQ(matrix.to_csr(), csr);
    expect_matches_csr(matrix, csr);
  }
}

// make() throws InvalidMatrix with this message.
template <class Make>
void expect_invalid(Make&& make, const std::string& message) {
  try {
    make();
    ADD_FAILURE() << "nothing thrown, expected: " << message;
  } catch (const InvalidMatrix& error) {
    EXPECT_EQ(error.what(), message);
  }
}

}  // namespace strata::test
