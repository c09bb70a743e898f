// What tests of eigenvalues and functions of matrices share: matrices as Eigen has them, and
// vectors in the order of a plan.
#pragma once

#include <Eigen/Dense>
#include <complex>

#include "strata/base/random.hpp"
#include "strata/formats/csr.hpp"
#include "strata/solvers/processor_space.hpp"
#include "strata/solvers/thick_restart.hpp"

namespace strata::solvers::test {

template <Value V, Index I>
Eigen::Matrix<V, Eigen::Dynamic, Eigen::Dynamic> dense(const Csr<V, I>& matrix) {
  using Full = Eigen::Matrix<V, Eigen::Dynamic, Eigen::Dynamic>;
  Full full = Full::Zero(matrix.rows(), matrix.cols());
  for (I row = 0; row < matrix.rows(); ++row) {
    for (auto k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      full(row, matrix.columns()[k]) += matrix.values()[k];
    }
  }
  return full;
}

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

template <Value V>
V random_value(const Random& random, std::size_t i) {
  if constexpr (is_complex<V>) {
    using Real = typename V::value_type;
    return V(static_cast<Real>(random.uniform(2 * i, -1, 1)),
             static_cast<Real>(random.uniform(2 * i + 1, -1, 1)));
  } else {
    return static_cast<V>(random.uniform(i, -1, 1));
  }
}

template <Value V>
std::vector<V> random_vector(std::size_t rows, std::uint64_t seed) {
  const Random random(seed, 11);
  std::vector<V> values(rows);
  for (std::size_t i = 0; i < rows; ++i) values[i] = random_value<V>(random, i);
  return values;
}

template <Value V>
RandomVector<ProcessorSpace<V>> random_filler() {
  return [](std::span<V> target, std::uint64_t seed) {
    const auto values = random_vector<V>(target.size(), seed);
    std::copy(values.begin(), values.end(), target.begin());
  };
}

}  // namespace strata::solvers::test
