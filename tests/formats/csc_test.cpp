#include "strata/formats/csc.hpp"

#include <gtest/gtest.h>

#include "tests/support/format_check.hpp"

namespace strata {
namespace {

using Matrix = Csc<double, std::int32_t>;

TEST(Csc, TakesArraysThatObeyItsInvariants) {
  const Matrix matrix(2, 3, {0, 1, 1, 3}, {1, 0, 1}, {1, 2, 3});
  EXPECT_EQ(matrix.to_csr(), (Csr<double, std::int32_t>(2, 3, {0, 1, 3}, {2, 0, 2}, {2, 1, 3})));
  EXPECT_EQ(matrix.footprint().index_bytes, 3 * 4 + 4 * 8);
}

TEST(Csc, RefusesBadArraysAndNamesTheColumn) {
  const auto expect_refused = [](Array<Offset> offsets, Array<std::int32_t> rows,
                                 const std::string& message) {
    test::expect_invalid([&] { Matrix(2, 3, offsets, rows, {1, 2, 3}); }, message);
  };
  expect_refused({0, 1, 3}, {1, 0, 1}, "there are 3 column offsets instead of 4");
  expect_refused({0, 1, 1, 2}, {1, 0, 1}, "column offsets run from 0 to 2 instead of 0 to 3");
  expect_refused({0, 2, 1, 3}, {0, 1, 0}, "column 1: column offsets decrease");
  expect_refused({0, 1, 1, 3}, {1, 0, 2}, "column 2: row 2 is outside 0 … 1");
  expect_refused({0, 1, 1, 3}, {1, 1, 0}, "column 2: rows 1 and 0 are not in increasing order");
  expect_refused({0, 1, 1, 3}, {1, 0}, "there are 2 row indices instead of 3");
}

}  // namespace
}  // namespace strata
