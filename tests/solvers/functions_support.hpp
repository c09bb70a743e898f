// What tests of eigenvalues and functions of matrices share: matrices as Eigen has them, and
// vectors in the order of a plan.
#pragma once

#include <complex>

#include "strata/formats/csr.hpp"
#include "strata/solvers/processor_space.hpp"
#include "strata/solvers/thick_restart.hpp"
#include "tests/support/dense_by_eigen.hpp"
#include "tests/support/matrices.hpp"

namespace strata::solvers::test {

using namespace strata::test;

// Of a square matrix, from all of its elements; zeros are left out.
template <class Full>
auto sparse(const Full& full) {
  using V = typename Full::Scalar;
  Array<Offset> offsets{0};
  Array<std::int32_t> columns;
  Array<V> values;
  for (int row = 0; row < full.rows(); ++row) {
    for (int column = 0; column < full.cols(); ++column) {
      if (full(row, column) == V(0)) continue;
      columns.push_back(column);
      values.push_back(full(row, column));
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  return Csr<V, std::int32_t>(static_cast<std::int32_t>(full.rows()),
                              static_cast<std::int32_t>(full.cols()), std::move(offsets),
                              std::move(columns), std::move(values));
}

// Ascending eigenvalues of a Hermitian matrix, by Eigen in double precision.
template <Value V, Index I>
std::vector<double> spectrum_of(const Csr<V, I>& matrix) {
  const Full<Wide<V>> full = dense(matrix).template cast<Wide<V>>();
  const Eigen::VectorXd values = hermitian_eigenvalues(full);
  return {values.data(), values.data() + values.size()};
}

template <Value V>
RandomVector<ProcessorSpace<V>> random_filler() {
  return [](std::span<V> target, std::uint64_t seed) {
    const auto values = random_vector<V>(target.size(), seed);
    std::copy(values.begin(), values.end(), target.begin());
  };
}

}  // namespace strata::solvers::test
