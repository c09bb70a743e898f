// What the tests of the generators share.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/gen/generate.hpp"
#include "tests/support/eigen.hpp"
#include "tests/support/matrices.hpp"

namespace strata::test {

using Matrix = Csr<double, std::int32_t>;

inline Matrix make(std::string_view spec) {
  return generate<double, std::int32_t>(spec);
}

inline Eigen::MatrixXd dense(const Matrix& matrix) {
  return to_eigen(matrix).toDense();
}

inline double smallest_eigenvalue(const Matrix& matrix) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense(matrix), Eigen::EigenvaluesOnly)
      .eigenvalues()
      .minCoeff();
}

// FNV-1a over the bytes of the arrays.
inline std::uint64_t checksum(const Matrix& matrix) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&](const auto& array) {
    for (const std::byte byte : std::as_bytes(array)) {
      hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3ULL;
    }
  };
  add(matrix.row_offsets());
  add(matrix.columns());
  add(matrix.values());
  return hash;
}

inline Offset row_length(const Matrix& matrix, std::int32_t row) {
  return matrix.pattern().row_length(row);
}

// Expects `action` to throw an E that says `message`.
template <class E, class Action>
void expect_error(Action&& action, const std::string& message) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown instead of: " << message;
  } catch (const E& error) {
    EXPECT_EQ(error.what(), message);
  }
}

}  // namespace strata::test
