// What the tests of the generators share.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <string>
#include <string_view>
#include <vector>

#include "strata/gen/generate.hpp"
#include "tests/support/format_check.hpp"

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
