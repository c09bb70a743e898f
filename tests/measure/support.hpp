// What the tests of measuring share.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "strata/kernels/reference/spmv.hpp"
#include "strata/measure/validation.hpp"
#include "strata/measure/vectors.hpp"
#include "strata/plans/power_plan.hpp"
#include "tests/machine/support.hpp"
#include "tests/support/matrices.hpp"

namespace strata::test {

using AllValues = testing::Types<float, double, std::complex<float>, std::complex<double>>;

template <Value V>
using Matrix = Csr<V, std::int32_t>;

// The real type of V.
template <Value V>
using RealOf = decltype(std::abs(V{}));

// A real number as a V.
template <Value V>
V number(double real) {
  return V(static_cast<RealOf<V>>(real));
}

// diag(first, 1, 1, …)
template <Value V>
Matrix<V> diagonal(std::int32_t rows, double first) {
  Entries<V, std::int32_t> entries(rows, rows, 1);
  for (std::int32_t i = 0; i < rows; ++i) entries.add(i, i, number<V>(i == 0 ? first : 1));
  return entries.coo().to_csr();
}

// A grid with random numbers, no two of them alike.
template <Value V>
Matrix<V> grid(std::int32_t nx, std::int32_t ny) {
  const std::int32_t rows = nx * ny;
  Entries<V, std::int32_t> entries(rows, rows, 1);
  for (std::int32_t i = 0; i < rows; ++i) {
    if (i >= nx) entries.add(i, i - nx);
    if (i % nx > 0) entries.add(i, i - 1);
    entries.add(i, i);
    if (i % nx + 1 < nx) entries.add(i, i + 1);
    if (i + nx < rows) entries.add(i, i + nx);
  }
  return entries.coo().to_csr();
}

// Ax, by the reference kernel.
template <Value V>
std::vector<V> product(const Matrix<V>& matrix, const std::vector<V>& x) {
  std::vector<V> y(static_cast<std::size_t>(matrix.rows()));
  reference::spmv(matrix, V{1}, x, V{}, y);
  return y;
}

// [y_1, …, y_p], by a plan that measures nothing, into poison.
template <Value V, Index I>
std::vector<V> powers(const Csr<V, I>& matrix, const std::vector<V>& x, PowerOptions options) {
  const MachineProfile profile = imaginary_machine();
  options.profile = &profile;
  options.autotune = false;
  const PowerPlan<V, I> plan = plan_powers(matrix, options);
  auto workspace = plan.make_workspace();
  std::vector<V> result(x.size() * static_cast<std::size_t>(options.power));
  poison<V>(result);
  plan.apply(x, result, workspace);
  return result;
}

}  // namespace strata::test
