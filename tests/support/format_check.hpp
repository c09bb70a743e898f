// The claims that every format has to meet, checked on every awkward matrix: it converts back to
// the same CSR, knows its bytes beforehand, and its reference product agrees with Eigen's for any
// α, β and row range, touching nothing else.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "strata/base/function_ref.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "tests/support/by_eigen.hpp"
#include "tests/support/matrices.hpp"

namespace strata::test {

template <class T>
std::vector<T> copied(std::span<const T> span) {
  return {span.begin(), span.end()};
}

// An upper bound of the rounding error of one row with `terms` products of numbers of size ≤ 2.
template <Value V>
double tolerance(Offset terms) {
  using Real = decltype(std::abs(V{}));
  return 32.0 * static_cast<double>(terms + 2) * std::numeric_limits<Real>::epsilon();
}

// y = αAx + βy on the rows, in whichever format: what is compared is compiled once per type.
template <Value V, Index I>
using Multiply = FunctionRef<void(V alpha, const std::vector<V>& x, V beta, std::vector<V>& y,
                                  RowRange<I> rows)>;

// Compares a product on rows [begin, end) with Eigen's product of `csr`.
template <Value V, Index I>
void expect_eigens_product(std::type_identity_t<Multiply<V, I>> multiply, const Csr<V, I>& csr,
                           V alpha, V beta, RowRange<I> rows) {
  const std::vector<V> x = random_vector<V>(csr.cols(), 1);
  const std::vector<V> old_y = random_vector<V>(csr.rows(), 2);
  const std::vector<V> expected = product_by_eigen<V, I>(csr, alpha, x, beta, old_y);
  std::vector<V> y = old_y;
  if (beta == V{}) {
    // With β = 0 the old y must not be read.
    std::fill(y.begin() + rows.begin, y.begin() + rows.end,
              V(std::numeric_limits<decltype(std::abs(V{}))>::quiet_NaN()));
  }
  multiply(alpha, x, beta, y, rows);
  for (I row = 0; row < csr.rows(); ++row) {
    if (rows.contains(row)) {
      const Offset terms = csr.row_offsets()[row + 1] - csr.row_offsets()[row];
      ASSERT_LE(std::abs(y[row] - expected[row]), tolerance<V>(terms)) << "row " << row;
    } else {
      ASSERT_EQ(y[row], old_y[row]) << "row " << row << " is outside the range";
    }
  }
}

// The same with any α and β, on all rows, some rows and no rows.
template <Value V, Index I>
void expect_eigens_products(std::type_identity_t<Multiply<V, I>> multiply, const Csr<V, I>& csr) {
  const I n = csr.rows();
  const V one{1};
  const V half = V(0.5f);
  const auto expect = [&](V alpha, V beta, I begin, I end) {
    expect_eigens_product<V, I>(multiply, csr, alpha, beta, {begin, end});
  };
  expect(one, V{}, 0, n);
  expect(-half, V(2.0f), 0, n);
  expect(half, one, static_cast<I>(n / 3), static_cast<I>(n - n / 4));
  expect(one, V{}, static_cast<I>(n / 2), static_cast<I>(n / 2));
}

// By the reference kernel of the matrix.
template <class Matrix, Value V, Index I>
void expect_product(const Matrix& matrix, const Csr<V, I>& csr, V alpha, V beta, RowRange<I> rows) {
  expect_eigens_product<V, I>(
      [&](V a, const std::vector<V>& x, V b, std::vector<V>& y, RowRange<I> range) {
        reference::spmv(matrix, a, x, b, y, range);
      },
      csr, alpha, beta, rows);
}

template <class Matrix, Value V, Index I>
void expect_matches_csr(const Matrix& matrix, const Csr<V, I>& csr) {
  EXPECT_EQ(matrix.rows(), csr.rows());
  EXPECT_EQ(matrix.cols(), csr.cols());
  EXPECT_EQ(matrix.nnz(), csr.nnz());
  expect_eigens_products<V, I>(
      [&](V alpha, const std::vector<V>& x, V beta, std::vector<V>& y, RowRange<I> rows) {
        reference::spmv(matrix, alpha, x, beta, y, rows);
      },
      csr);
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

// A matrix with the pattern of another and other values.
template <Value V, Index I>
Csr<V, I> with_other_values(Csr<V, I> matrix, std::uint64_t seed) {
  const std::vector<V> values = random_vector<V>(matrix.values().size(), seed);
  std::ranges::copy(values, matrix.mutable_values().begin());
  return matrix;
}

// assign_values on what `build(csr)` returns leaves exactly what `build` makes of the new matrix.
template <Value V, Index I, class Build>
void expect_new_values_taken(Build&& build) {
  for (const auto& [name, entries] : awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    const Csr<V, I> changed = with_other_values(csr, 17);
    auto matrix = build(csr);
    const auto expected = build(changed);
    matrix.assign_values(changed);
    if constexpr (requires { matrix.values(); }) {
      EXPECT_TRUE(std::ranges::equal(matrix.values(), expected.values()));
    }
    EXPECT_EQ(matrix.to_csr(), changed);
  }
}

// Rows of 1, 2, … entries, from the first column on.
inline Csr<double, std::int32_t> staircase(int rows) {
  Entries<double, std::int32_t> entries(rows, rows, 1);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column <= row; ++column) entries.add(row, column);
  }
  return entries.coo().to_csr();
}

// `matrix` was made from staircase(4). Whatever is refused leaves all values as they are.
template <class Matrix>
void expect_other_patterns_refused(Matrix matrix) {
  using Csr4 = Csr<double, std::int32_t>;
  const auto before = matrix.to_csr();
  const auto expect_refused = [&](const Csr4& other, const std::string& message) {
    try {
      matrix.assign_values(other);
      ADD_FAILURE() << "nothing thrown, expected: " << message;
    } catch (const InvalidArgument& error) {
      EXPECT_TRUE(std::string(error.what()).ends_with(message)) << error.what();
    }
    EXPECT_EQ(matrix.to_csr(), before);
  };
  const std::string other_shape = "new values come with a matrix of another shape";
  expect_refused(staircase(3), other_shape);
  expect_refused({}, other_shape);
  expect_refused({4, 4, {0, 0, 0, 0, 0}, {}, {}}, other_shape);
  // As many entries in other rows: the second row has one, the first two.
  expect_refused({4, 4, {0, 2, 3, 6, 10}, {0, 1, 0, 0, 1, 2, 0, 1, 2, 3}, Array<double>(10, 1.0)},
                 " of the new values has another number of entries");
  // Rows of the same lengths, one of them in other columns: the first, and the last but one.
  expect_refused({4, 4, {0, 1, 3, 6, 10}, {1, 0, 1, 0, 1, 2, 0, 1, 2, 3}, Array<double>(10, 1.0)},
                 "row 0 of the new values has entries in other columns");
  expect_refused({4, 4, {0, 1, 3, 6, 10}, {0, 0, 1, 0, 1, 3, 0, 1, 2, 3}, Array<double>(10, 1.0)},
                 "row 2 of the new values has entries in other columns");
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
