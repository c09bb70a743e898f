// What tests of eigenpairs on processors and GPUs share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "strata/formats/csr.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/solvers/eigen_solver.hpp"

namespace strata::test {

// λ = 4 − 2 cos(iπ/(nx + 1)) − 2 cos(jπ/(ny + 1))
inline std::vector<double> laplacian_spectrum(int nx, int ny) {
  std::vector<double> values;
  for (int i = 1; i <= nx; ++i) {
    for (int j = 1; j <= ny; ++j) {
      values.push_back(4 - 2 * std::cos(i * std::numbers::pi / (nx + 1)) -
                       2 * std::cos(j * std::numbers::pi / (ny + 1)));
    }
  }
  std::sort(values.begin(), values.end());
  return values;
}

// An interval with `count` or more of the eigenvalues, from number `first` on, whose ends are not
// next to one: rounding does not decide who is inside. Sets `first` and `count` to who is.
inline solvers::ChebyshevInterval interval_between(const std::vector<double>& values,
                                                   std::size_t& first, std::size_t& count) {
  std::size_t low = first, high = first + count;
  while (values[low] - values[low - 1] < 1e-3) ++low;
  while (values[high] - values[high - 1] < 1e-3) ++high;
  first = low;
  count = high - low;
  return {(values[low] + values[low - 1]) / 2, (values[high] + values[high - 1]) / 2};
}

// ‖Ax − λx‖ of the vectors that are returned, by nobody's plan.
template <Value V, Index I>
void expect_residuals(const Csr<V, I>& matrix, const solvers::Eigenpairs<V>& pairs,
                      double tolerance) {
  const auto rows = static_cast<std::size_t>(matrix.rows());
  ASSERT_EQ(pairs.vectors.size(), rows * pairs.result.values.size());
  ASSERT_EQ(pairs.result.residuals.size(), pairs.result.values.size());
  for (std::size_t k = 0; k < pairs.result.values.size(); ++k) {
    const std::span<const V> x(pairs.vectors.data() + k * rows, rows);
    std::vector<V> ax(rows);
    reference::spmv(matrix, V(1), x, V(0), ax);
    double residual = 0, length = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      using Real = decltype(std::abs(V()));
      residual += std::norm(ax[i] - static_cast<Real>(pairs.result.values[k]) * x[i]);
      length += std::norm(x[i]);
    }
    EXPECT_LE(std::sqrt(residual / length), 1.01 * tolerance * pairs.result.norm) << k;
  }
}

}  // namespace strata::test
