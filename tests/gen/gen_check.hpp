// What the tests of the generators share.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/gen/generate.hpp"
#include "tests/support/dense_by_eigen.hpp"
#include "tests/support/eigen.hpp"
#include "tests/support/matrices.hpp"

namespace strata::test {

using Matrix = Csr<double, std::int32_t>;

inline Matrix make(std::string_view spec) {
  return generate<double, std::int32_t>(spec);
}

double smallest_eigenvalue(const Matrix& matrix);
// FNV-1a over the bytes of the arrays.
std::uint64_t checksum(const Matrix& matrix);

// What a specification stands for. A number that changes means that a published one stands for
// another matrix from now on.
struct Sample {
  const char* spec;
  std::uint64_t expected;  // its checksum
};
// On several numbers of threads.
void expect_checksums(std::span<const Sample> samples);

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
